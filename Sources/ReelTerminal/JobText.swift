internal import FoundationEssentials
package import ReelCore
package import ReelJobs
package import ReelQueue
internal import ReelWords

package enum JobText {
    /// How many sources and clips are listed.
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
        if view.state == .assembling, view.framesEncoded >= view.frames { text += ", being joined and verified" }
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
