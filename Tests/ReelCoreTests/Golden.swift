import Foundation
import Testing

/// Files that say how a value is written: what is stored or sent never changes by accident.
enum Golden {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")

    /// Compares bytes with a file of `Golden`, which ends in a line break beside them; with REEL_WRITE_GOLDEN=1 writes it
    /// instead.
    static func expect(
        _ bytes: [UInt8], is name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        if ProcessInfo.processInfo.environment["REEL_WRITE_GOLDEN"] == "1" {
            try Data(bytes + [10]).write(to: folder.appending(path: name))
        }
        let found = String(decoding: bytes, as: UTF8.self)
        #expect(try found == String(decoding: read(name), as: UTF8.self), sourceLocation: sourceLocation)
    }

    /// The bytes of a file, without its line break.
    static func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)).dropLast())
    }
}
