/// Cuts a stream of bytes into lines.
struct LineSplitter {
    /// Bytes that a line may have at most: the segments of a pass of a day's length fit.
    static let limit = 16 << 20

    private var rest: [UInt8] = []

    /// The lines that end within `bytes`, without their ends; nil where one is too long.
    mutating func split(_ bytes: some Collection<UInt8>) -> [[UInt8]]? {
        var lines: [[UInt8]] = []
        var pending = bytes[...]
        while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(rest + pending[..<end])
            rest = []
            pending = pending[pending.index(after: end)...]
        }
        rest += pending
        return rest.count > Self.limit ? nil : lines
    }
}
