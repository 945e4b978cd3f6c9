internal import ReelCore
internal import ReelJobs
internal import ReelWords

/// Jobs below one another, a line each, under a line of headings.
enum JobTable {
    /// - Parameters:
    ///   - jobs: in the order in which they are shown.
    ///   - now: seconds since 1970, from which ages are counted.
    static func of(_ jobs: [JobView], at now: Double, on canvas: Canvas) -> Table {
        // Their beginnings are enough for every command, and leave room for the state.
        let isNarrow = canvas.isTerminal && canvas.columns < 40
        let plain = { (text: (JobView) -> String) in jobs.map { ScreenLine(text($0)) } }
        let isNamed = jobs.contains { $0.name != nil }
        return Table(
            [
                Table.Column("JOB", jobs.map { ScreenLine(isNarrow ? String($0.id.prefix(8)) : $0.id, .strong) }),
                Table.Column("STATE", jobs.map { ScreenLine(Figures.state($0), Figures.style($0)) }),
                Table.Column("DONE", plain(Figures.percent), isRightAligned: true),
                Table.Column(
                    "SPEED", plain { $0.framesPerSecond > 0 ? Figures.speed($0.framesPerSecond) : "" },
                    isRightAligned: true),
                Table.Column("ETA", plain { $0.eta.map(ClockTime.text) ?? "" }, isRightAligned: true),
                Table.Column("AGE", plain { Figures.age(now - $0.created) }, isRightAligned: true),
                Table.Column("TOOK", plain(Figures.duration), isRightAligned: true),
                Table.Column("NAME", plain(\.shownName)),
                Table.Column("FILE", plain { isNamed ? $0.fileName : "" }),
                Table.Column("LABELS", plain { Figures.labels($0) }),
                Table.Column("OPTIONS", plain { $0.options.map(JobTable.options) ?? "" }),
                Table.Column("WEIGHT", plain { $0.weight == 1 ? "" : Figures.number($0.weight) }, isRightAligned: true),
                Table.Column("BY", plain { $0.submitter ?? "" }),
            ],
            leavingOut: [
                "BY", "TOOK", "WEIGHT", "OPTIONS", "LABELS", "FILE", "SPEED", "ETA", "AGE", "DONE", "STATE", "JOB",
            ], cutting: "NAME", on: canvas)
    }

    /// The first options, so that a job with many options leaves room for the other fields.
    private static func options(_ spec: JobSpec) -> String {
        let line = OptionsText.line(spec)
        return line.count > 40 ? line.prefix(39) + "…" : line
    }

    /// Why a job waits or failed; no line if it does neither.
    static func reasons(_ job: JobView, on canvas: Canvas) -> [ScreenLine] {
        let why = job.waitReason.map { ScreenLine("  waits: ", .busy).followed(by: $0, on: canvas) }
        let failed = job.failure.map { ScreenLine("  failed: ", .bad).followed(by: $0, on: canvas) }
        return (why ?? []) + (failed ?? [])
    }
}

/// Rows with the same fields, one below another, under a line of headings. On a narrow terminal the less important
/// fields are left out as a whole.
struct Table {
    struct Column {
        let heading: String
        let cells: [ScreenLine]
        let isRightAligned: Bool

        init(_ heading: String, _ cells: [ScreenLine], isRightAligned: Bool = false) {
            (self.heading, self.cells, self.isRightAligned) = (heading, cells, isRightAligned)
        }

        var width: Int { max(heading.count, cells.map(\.width).max() ?? 0) }

        var isEmpty: Bool { cells.allSatisfy { $0.width == 0 } }
    }

    private var columns: [Column]
    private let cut: String
    /// The most characters of a row; nil for any number.
    private let room: Int?

    private static let gap = 2
    /// The last field is cut to no less than this before it is left out.
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
        for heading in order where leastWidth > room ?? .max { self.columns.removeAll { $0.heading == heading } }
    }

    private var leastWidth: Int {
        guard let last = columns.last else { return 0 }
        let before = columns.dropLast().reduce(0) { $0 + $1.width + Table.gap }
        return before + (last.heading == cut ? min(last.width, Table.least) : last.width)
    }

    var head: ScreenLine { line(columns.map { ($0, ScreenLine($0.heading, .faint)) }) }

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
