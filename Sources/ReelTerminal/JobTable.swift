internal import ReelCore
internal import ReelJobs
internal import ReelWords

/// Jobs below one another, a line each, under a line of headings.
struct JobTable {
    private let table: Table

    /// - Parameters:
    ///   - jobs: in the order in which they are shown.
    ///   - now: seconds since 1970, from which ages are counted.
    init(_ jobs: [JobView], at now: Double, on canvas: Canvas) {
        // Their beginnings are enough for every command, and leave room for the state.
        let isNarrow = canvas.isTerminal && canvas.columns < 40
        let plain = { (text: (JobView) -> String) in jobs.map { ScreenLine(text($0)) } }
        let isNamed = jobs.contains { $0.name != nil }
        table = Table(
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
            ], cutting: "NAME",
            on: canvas)
    }

    /// The beginning of what was asked for, so that a job of many options does not take the room of all other fields.
    private static func options(_ spec: JobSpec) -> String {
        let line = OptionsText.line(spec)
        return line.count > 40 ? line.prefix(39) + "…" : line
    }

    /// The headings.
    var head: ScreenLine { table.head }

    /// A line for each job.
    var rows: [ScreenLine] { table.rows }

    /// Why a job waits or failed; no line if it does neither.
    static func reasons(_ job: JobView, on canvas: Canvas) -> [ScreenLine] {
        let why = job.waitReason.map { ScreenLine("  waits: ", .busy).followed(by: $0, on: canvas) }
        let failed = job.failure.map { ScreenLine("  failed: ", .bad).followed(by: $0, on: canvas) }
        return (why ?? []) + (failed ?? [])
    }
}
