package import ReelCore

/// The part of a job in the store that lists show.
package struct JobOutline: Hashable, Sendable {
    /// The request, without a long edit: one of 100,000 clips has 12 MB, and takes seconds to decode.
    package var options: JobSpec
    package var submission: Submission?
    /// The verified output as the record has it, whether or not its file is still there.
    package var recorded: JobResult?
    /// As `JobEntry.result`.
    package var result: StoredResult?

    package init(_ record: JobRecord, result: StoredResult?) {
        options = record.spec
        submission = record.submission
        recorded = record.result
        self.result = result
    }
}

extension JobEntry {
    package var isLarge: Bool { false }

    package func outline() async throws(ReelFailure) -> JobOutline {
        JobOutline(try await read(), result: await result)
    }
}

extension JobFolder {
    /// A record of more bytes is decoded without its edit.
    private static let mostBytes = 64 << 10

    package func outline() throws(ReelFailure) -> JobOutline {
        let record = try record { bytes in
            bytes.count > JobFolder.mostBytes ? JSONCut.text(bytes, without: ["spec", "edit"]) : bytes
        }
        return JobOutline(record, result: try? result(of: record))
    }
}

/// Takes values out of JSON texts without decoding them.
package enum JSONCut {
    /// A text with null in place of the first value at a path of keys. Reads each byte once, at most. The text stays as
    /// it is if it has no such value, is not JSON, or spells one of the keys with escapes.
    package static func text(_ text: [UInt8], without path: [String]) -> [UInt8] {
        let path = path.map { Array($0.utf8) }
        // The last name in each open object, from the outermost; unused for lists and deeper objects.
        var names: [ArraySlice<UInt8>] = Array(repeating: [], count: path.count)
        var last: ArraySlice<UInt8> = []
        var depth = 0
        var begin: Int?
        var place = 0
        while place < text.count {
            defer { place += 1 }
            switch text[place] {
            case UInt8(ascii: "\""):
                let start = place + 1
                place = start
                while place < text.count, text[place] != UInt8(ascii: "\"") {
                    place += text[place] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard place < text.count else { return text }
                last = text[start..<place]
            case UInt8(ascii: ":") where (1...path.count).contains(depth):
                names[depth - 1] = last
                if depth == path.count, zip(names, path).allSatisfy({ $0.elementsEqual($1) }) { begin = place + 1 }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth <= path.count { names[depth - 1] = [] }
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let begin, depth == path.count { return text[..<begin] + Array("null".utf8) + text[place...] }
                if text[place] != UInt8(ascii: ",") { depth -= 1 }
                guard depth >= 0 else { return text }
            default: continue
            }
        }
        return text
    }
}
