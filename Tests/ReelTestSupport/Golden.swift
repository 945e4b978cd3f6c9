package import Foundation
package import Testing

/// Golden files have the bytes of a value as a developer last approved them, so that a stored or sent format never changes
/// by accident. They lie in the folder `Golden` beside the test that uses them.
package enum Golden {
    /// Compares a text with a golden file. With REEL_WRITE_GOLDEN=1 in the environment it writes the file instead.
    ///
    /// - Parameter text: a line break is added to it if it does not end in one.
    package static func expect(
        _ text: String, is name: String, beside test: String = #filePath,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try expect(text, is: file(name, beside: test), rewriteIf: "REEL_WRITE_GOLDEN", sourceLocation: sourceLocation)
    }

    /// The same with bytes of UTF-8.
    package static func expect(
        _ bytes: [UInt8], is name: String, beside test: String = #filePath,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try expect(String(decoding: bytes, as: UTF8.self), is: name, beside: test, sourceLocation: sourceLocation)
    }

    /// Compares a text with a file, or writes the file if the environment has the variable.
    package static func expect(
        _ text: String, is url: URL, rewriteIf variable: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let text = text.hasSuffix("\n") ? text : text + "\n"
        if ProcessInfo.processInfo.environment[variable] != nil { return try Data(text.utf8).write(to: url) }
        let kept = try String(contentsOf: url, encoding: .utf8)
        let different = zip(text.split(separator: "\n"), kept.split(separator: "\n")).first { $0 != $1 }
        #expect(
            text == kept, "\(url.lastPathComponent): \(different.map { "\($0)" } ?? "of another length")",
            sourceLocation: sourceLocation)
    }

    /// The bytes of a golden file, without its last line break.
    package static func read(_ name: String, beside test: String = #filePath) throws -> [UInt8] {
        Array(try Data(contentsOf: file(name, beside: test)).dropLast())
    }

    /// One line of JSON for each value, as stores and boards have it.
    package static func lines(_ values: [some Encodable]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try values.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }.joined()
    }

    private static func file(_ name: String, beside test: String) -> URL {
        URL(filePath: test).deletingLastPathComponent().appending(path: "Golden/" + name)
    }
}
