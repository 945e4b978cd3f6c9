/// Rows with the same fields, one below another, under a line of headings. On a narrow terminal the less important fields
/// are left out as a whole.
struct Table {
    /// A field of all rows.
    struct Column {
        let heading: String
        let cells: [ScreenLine]
        let isRightAligned: Bool

        init(_ heading: String, _ cells: [ScreenLine], isRightAligned: Bool = false) {
            self.heading = heading
            self.cells = cells
            self.isRightAligned = isRightAligned
        }

        var width: Int { max(heading.count, cells.map(\.width).max() ?? 0) }

        /// Whether no row has anything in it.
        var isEmpty: Bool { cells.allSatisfy { $0.width == 0 } }
    }

    private var columns: [Column]
    private let cut: String
    /// The most characters of a row; nil for any number.
    private let room: Int?

    private static let gap = 2
    /// The last field is cut before it is left out, as long as it has so much room.
    private static let least = 8

    /// - Parameters:
    ///   - columns: in the order in which they are shown; all have as many cells. Those without any text are left out.
    ///   - order: the headings of the ones that may be left out, the first one first.
    ///   - cut: the heading of the one that is cut if it is the last one left.
    ///   - canvas: its width limits a row, if it is a terminal's.
    init(_ columns: [Column], leavingOut order: [String], cutting cut: String, on canvas: Canvas) {
        self.columns = columns.filter { !$0.isEmpty }
        self.cut = cut
        room = canvas.isTerminal ? canvas.columns : nil
        for heading in order where leastWidth > room ?? .max {
            self.columns.removeAll { $0.heading == heading }
        }
    }

    private var leastWidth: Int {
        guard let last = columns.last else { return 0 }
        let before = columns.dropLast().reduce(0) { $0 + $1.width + Table.gap }
        return before + (last.heading == cut ? min(last.width, Table.least) : last.width)
    }

    /// The headings.
    var head: ScreenLine { line(columns.map { ($0, ScreenLine($0.heading, .faint)) }) }

    /// The rows, in the order of the cells.
    var rows: [ScreenLine] {
        (0..<(columns.first?.cells.count ?? 0)).map { row in line(columns.map { ($0, $0.cells[row]) }) }
    }

    /// One row, without spaces after the last text.
    private func line(_ fields: [(column: Column, text: ScreenLine)]) -> ScreenLine {
        var (line, end) = (ScreenLine(), 0)
        for (column, text) in fields {
            if text.width > 0 {
                let start = column.isRightAligned ? end + column.width - text.width : end
                line = line + ScreenLine(String(repeating: " ", count: start - line.width)) + text
            }
            end += column.width + Table.gap
        }
        return room.map { line.cut(to: $0) } ?? line
    }
}
