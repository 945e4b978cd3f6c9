import Foundation
import Testing

/// A file that says what something was when it was last looked at by a person.
enum Golden {
    /// Compares `text` with the file, or writes it where the variable is set.
    static func compare(
        _ text: String, with url: URL, rewriteIf variable: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        if ProcessInfo.processInfo.environment[variable] != nil {
            try Data(text.utf8).write(to: url)
            return
        }
        let kept = try String(contentsOf: url, encoding: .utf8)
        let different = zip(text.split(separator: "\n"), kept.split(separator: "\n")).first { $0 != $1 }
        #expect(
            text == kept, "\(url.lastPathComponent): \(different.map { "\($0)" } ?? "of another length")",
            sourceLocation: sourceLocation)
    }

    /// One line of JSON for each value, as stores write it.
    static func lines(_ values: [some Encodable]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try values.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }.joined()
    }

    static func file(_ name: String, here: String = #filePath) -> URL {
        URL(fileURLWithPath: here).deletingLastPathComponent().appendingPathComponent("Golden/" + name)
    }
}
