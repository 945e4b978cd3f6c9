/// What text is written on: a terminal or a file, and what it can show.
public struct Canvas: Hashable, Sendable {
    public var columns: Int
    /// Nil where there is no end, so that nothing is cut off.
    public var rows: Int?
    public var hasColour: Bool
    /// Characters beyond ASCII, for pictures made of them.
    public var hasBlocks: Bool

    public init(columns: Int, rows: Int?, hasColour: Bool, hasBlocks: Bool) {
        self.columns = columns
        self.rows = rows
        self.hasColour = hasColour
        self.hasBlocks = hasBlocks
    }

    /// A file or a pipe.
    public static let plain = Canvas(columns: 100, rows: nil, hasColour: false, hasBlocks: false)

    /// A terminal, by what its environment says: no colour where NO_COLOR is set, blocks where the locale does not name
    /// another character set than UTF-8.
    public static func terminal(columns: Int, environment: [String: String]) -> Canvas {
        guard environment["TERM"] != "dumb" else {
            return Canvas(columns: columns, rows: nil, hasColour: false, hasBlocks: false)
        }
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty }
        let name = locale?.uppercased() ?? "UTF-8"
        return Canvas(
            columns: columns, rows: nil, hasColour: environment["NO_COLOR", default: ""].isEmpty,
            hasBlocks: name.contains("UTF-8") || name.contains("UTF8"))
    }
}
