internal import Synchronization

/// The last bytes that were written to it, in bounded memory.
final class ByteTail: Sendable {
    private let limit: Int
    private let bytes = Mutex<[UInt8]>([])

    init(limit: Int) { self.limit = limit }

    func append(_ more: some Collection<UInt8>) {
        bytes.withLock { bytes in
            bytes += more.suffix(limit)
            // Dropping rarely keeps the cost per byte constant.
            if bytes.count > 2 * limit { bytes.removeFirst(bytes.count - limit) }
        }
    }

    /// As UTF-8; invalid bytes are replaced.
    var text: String { bytes.withLock { String(decoding: $0.suffix(limit), as: UTF8.self) } }

    /// The last line that is not empty.
    var lastLine: String? {
        text.split(whereSeparator: \.isNewline).last { !$0.allSatisfy(\.isWhitespace) }.map(String.init)
    }
}

/// Cuts a stream of bytes into lines.
struct LineSplitter {
    private var rest: [UInt8] = []

    /// The lines that end within `bytes`, without their ends; nil if one has more bytes than `limit`.
    mutating func split(_ bytes: some Collection<UInt8>, limit: Int) -> [[UInt8]]? {
        var lines: [[UInt8]] = []
        var pending = bytes[...]
        while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest + pending[..<end]
            guard line.count <= limit else { return nil }
            lines.append(line)
            rest = []
            pending = pending[pending.index(after: end)...]
        }
        rest += pending
        return rest.count > limit ? nil : lines
    }
}
