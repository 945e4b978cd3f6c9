/// The abilities of the terminal or file that text is written to.
package struct Canvas: Hashable, Sendable {
    /// Width in characters.
    package var columns: Int
    /// Height in lines. Nil if text may go on without end: nothing is wrapped or cut off then.
    package var rows: Int?
    /// Whether people see it; a file or a pipe takes rows of any width.
    package var isTerminal: Bool
    /// Whether text may be styled with escape sequences.
    package var hasColour: Bool
    /// Whether it shows block characters beyond ASCII, as in strips.
    package var hasBlocks: Bool

    package init(columns: Int, rows: Int?, isTerminal: Bool = true, hasColour: Bool, hasBlocks: Bool) {
        self.columns = columns
        self.rows = rows
        self.isTerminal = isTerminal
        self.hasColour = hasColour
        self.hasBlocks = hasBlocks
    }

    /// The same with rows for everything.
    var endless: Canvas {
        var canvas = self
        canvas.rows = .max
        return canvas
    }

    /// A file or a pipe.
    package static let plain = Canvas(
        columns: 100, rows: nil, isTerminal: false, hasColour: false, hasBlocks: false)

    /// A terminal with this environment: without colour if NO_COLOR is set, without blocks if the locale names a character
    /// set other than UTF-8, without either if TERM is "dumb".
    package static func terminal(columns: Int, environment: [String: String]) -> Canvas {
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
