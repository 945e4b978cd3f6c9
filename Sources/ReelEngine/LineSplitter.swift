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
