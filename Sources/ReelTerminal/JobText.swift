internal import FoundationEssentials
package import ReelCore
package import ReelJobs
package import ReelQueue
internal import ReelWords

package enum JobText {
    private static let (mostSources, mostClips) = (8, 12)
    private static let indent = 10

    /// A line for each job, and why it waits or failed; a line for each job that cannot be read; and how many more jobs
    /// there are.
    ///
    /// - Parameters:
    ///   - isChosen: whether a filter has chosen the jobs.
    ///   - others: how many jobs that have ended are left out.
    ///   - forgotten: how many unfinished jobs of the store the board does not know.
    ///   - now: seconds since 1970, from which ages are counted.
    package static func lines(
        _ views: [JobView], unreadable: [JobID: ReelFailure] = [:], isChosen: Bool = false, others: Int = 0,
        forgotten: Int = 0, at now: Double, as list: ListState = ListState(), on canvas: Canvas
    ) -> [ScreenLine] {
        let views = list.sorted(views)
        guard !views.isEmpty || !unreadable.isEmpty else {
            let none = ScreenLine(isChosen ? "no job matches" : "there are no jobs")
            guard forgotten > 0 else { return [none] }
            let found = "the board knows none, but the store has \(forgotten) unfinished"
            return [none] + ScreenLine().followed(by: "\(found): reel-coordinator recover puts them back", on: canvas)
        }
        let aside = unreadable.sorted { $0.key.text < $1.key.text }.flatMap { id, failure in
            QueueText.unreadable(id.text, failure.words, on: canvas)
        }
        guard !views.isEmpty else { return aside }
        let table = JobTable.of(views, at: now, on: canvas)
        return [table.head]
            + zip(views, table.rows).flatMap { [list.line($1, of: $0)] + JobTable.reasons($0, on: canvas) } + aside
            + (more(others).map { ScreenLine().followed(by: $0, on: canvas) } ?? [])
    }

    /// The number of ended jobs that a list leaves out, in words; nil if it has all.
    package static func more(_ others: Int) -> String? {
        guard others > 0 else { return nil }
        let jobs = others == 1 ? "1 more job has" : "\(others) more jobs have"
        return "\(jobs) ended: reel-coordinator status --state done --state failed --state cancelled shows them all"
    }

    /// All about one job.
    ///
    /// - Parameter now: seconds since 1970, from which ages are counted.
    package static func lines(_ view: JobView, strip: PassStrip?, at now: Double, on canvas: Canvas) -> [ScreenLine] {
        func row(_ name: String, _ text: String) -> [ScreenLine] {
            ScreenLine(Figures.padded(name, indent), .faint).followed(by: text, on: canvas)
        }
        func rows(_ name: String, _ texts: [String]) -> [ScreenLine] {
            texts.enumerated().flatMap { row($0.offset == 0 ? name : "", $0.element) }
        }
        let job = ScreenLine(Figures.padded("job", indent), .faint) + ScreenLine(view.id + ", ", .strong)
        var lines = job.followed(by: Figures.state(view), style: Figures.style(view), on: canvas)
        lines += rows("name", [view.name].compactMap(\.self))
        if !view.labels.isEmpty { lines += row("labels", Figures.labels(view)) }
        lines += row("submitted", submission(view, at: now))
        if let finished = view.finished {
            lines += row("ended", "\(Figures.age(now - finished)) ago, after \(Figures.duration(view))")
        }
        lines += rows("options", view.options.map { [OptionsText.line($0)] } ?? [])
        lines += rows("source", sources(view))
        lines += rows("clips", clips(view))
        lines += row("frames", frames(view)) + row("passes", Figures.passes(view))
        if let strip {
            let width = max(min(canvas.columns - indent, 120), 1)
            let space = ScreenLine(Figures.padded("", indent))
            lines += [space + StripText.line(strip, width: width, on: canvas), space + StripText.legend(on: canvas)]
        }
        let engines = Set(view.engines.compactMap { engine in engine.sandbox.map { "\(engine.host): \($0.words)" } })
        lines += rows("engines", engines.sorted()) + row("memory", memory(view))
        lines += rows("output", [view.output].compactMap(\.self))
        return lines + messages(view, on: canvas) + failures(view, on: canvas)
    }

    private static func sources(_ view: JobView) -> [String] {
        let more = view.sources.count - mostSources
        return view.sources.prefix(mostSources) + (more > 0 ? ["and \(more) more"] : [])
    }

    private static func submission(_ view: JobView, at now: Double) -> String {
        let by = view.submitter.map { " by \($0)" } ?? ""
        let weight = view.weight == 1 ? "" : ", weight \(Figures.number(view.weight))"
        return "\(Figures.age(now - view.created)) ago" + by + weight
    }

    /// A line for each clip, unfinished clips first if there are too many for all.
    private static func clips(_ view: JobView) -> [String] {
        var shown = Array(view.clips.enumerated())
        if shown.count > mostClips {
            let (done, open) = (shown.filter { $0.element.isDone }, shown.filter { !$0.element.isDone })
            shown = (open + done).prefix(mostClips).sorted { $0.offset < $1.offset }
        }
        let lines = shown.map { number, clip in "\(number + 1)  " + text(clip) }
        let rest = view.clips.count - shown.count
        return lines + (rest > 0 ? ["and \(rest) more"] : [])
    }

    private static func text(_ clip: ClipProgress) -> String {
        let frames = Wording.count(clip.endFrame - clip.firstFrame, "frame")
        let what = clip.source.map { "\($0), \(frames) \(clip.direction == .forwards ? "forward" : "back")" } ?? "black"
        guard !clip.isDone else { return what + ": done" }
        guard clip.passesDone + clip.passesLive > 0 else { return what + ": waits" }
        guard clip.passes > 1 else { return what + ": worked on" }
        return what + ": \(clip.passesDone) of \(clip.passes) passes done"
            + (clip.passesLive > 0 ? ", \(clip.passesLive) worked on" : "")
    }

    /// Wait reason, failure, excluded hosts and warnings, which may take several rows each.
    private static func messages(_ view: JobView, on canvas: Canvas) -> [ScreenLine] {
        var rows: [(String, String, ScreenLine.Style)] = []
        if let reason = view.waitReason { rows.append(("waits", reason, .busy)) }
        if let failure = view.failure { rows.append(("failed", failure, .bad)) }
        rows += view.excluded.map { ("excluded", "\($0.host): \($0.reason)", .busy) }
        rows += warnings(view).map { ("warning", $0, .plain) }
        return rows.flatMap { name, text, style in
            ScreenLine(Figures.padded(name, indent), .faint).followed(by: text, style: style, on: canvas)
        }
    }

    private static func frames(_ view: JobView) -> String {
        var text = "\(view.framesEncoded) of \(view.frames), \(Figures.percent(view))"
        if view.framesPerSecond > 0 { text += ", \(Figures.speed(view.framesPerSecond)) over the last minute" }
        if let eta = view.eta { text += ", ETA \(ClockTime.text(seconds: eta))" }
        if view.state == .assembling, view.framesEncoded >= view.frames {
            text += ", being joined and verified" + (view.assembled.map { ", \(Figures.percent($0))" } ?? "")
        }
        return text
    }

    private static func memory(_ view: JobView) -> String {
        "\(ByteSize(bytes: view.need)) a pass"
            + (view.peakRSS > 0 ? ", \(ByteSize(bytes: view.peakRSS)) at most so far" : "")
    }

    /// The warnings that have no line of their own.
    private static func warnings(_ view: JobView) -> [String] {
        let told = Set(view.excluded.map(JobView.warning) + [view.waitReason].compactMap(\.self))
        return view.warnings.filter { !told.contains($0) }
    }

    private static func failures(_ view: JobView, on canvas: Canvas) -> [ScreenLine] {
        let shown = view.failures.sorted { ($0.recent.last?.time ?? 0) > ($1.recent.last?.time ?? 0) }.prefix(20)
        let more = view.failureCount - shown.count
        let rest = more == 1 ? "attempts failed of 1 pass more" : "attempts failed of \(more) passes more"
        return (shown.isEmpty ? [] : [ScreenLine()]) + shown.flatMap { lines($0, on: canvas) }
            + (more > 0 ? [ScreenLine(), ScreenLine(rest)] : [])
    }

    /// The failures of a pass: a line for the pass, then each attempt, the last one with the last lines of its engine.
    private static func lines(_ failure: FailureView, on canvas: Canvas) -> [ScreenLine] {
        let attempts = failure.attempts.sorted { $0.key < $1.key }.map { "\($0.value) x \($0.key)" }
        let head =
            ScreenLine("pass \(failure.index)", .bad)
            + ScreenLine(([place(failure)] + attempts).filter { !$0.isEmpty }.map { ", \($0)" }.joined())
        return [head]
            + failure.recent.enumerated().flatMap { number, attempt in
                let time = Date(timeIntervalSince1970: attempt.time.rounded(.down)).formatted(.iso8601)
                let lines = ScreenLine("  \(time)  \(attempt.host)  ", .faint)
                    .followed(by: "\(attempt.cause): \(attempt.message)", on: canvas)
                let log = number == failure.recent.count - 1 ? attempt.log ?? [] : []
                return lines + log.map { ScreenLine("    | \($0)", .faint) }
            }
    }

    private static func place(_ failure: FailureView) -> String {
        switch failure.kind {
        case "assembly"?: return "the assembly"
        case "audio"?: return "audio"
        default: break
        }
        guard let first = failure.firstFrame, let end = failure.endFrame else { return "" }
        let frames = "frames \(first) to \(end - 1)"
        guard let from = failure.from, let to = failure.to else { return frames }
        return frames + ", \(Figures.position(from)) to \(Figures.position(to)) of the source"
    }
}

extension ClipProgress {
    fileprivate var isDone: Bool { passesDone == passes }
}

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
