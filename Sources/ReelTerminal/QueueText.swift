internal import ReelCore
package import ReelJobs
package import ReelQueue
internal import ReelWords

/// The output of `queue`.
package enum QueueText {
    /// Totals, jobs that cannot be read, then the jobs, as many as the canvas has rows for.
    ///
    /// - Parameters:
    ///   - strips: the jobs' strips by job id.
    ///   - now: seconds since 1970, from which ages are counted.
    ///   - list: the order of the jobs, and the chosen one.
    package static func lines(
        _ view: QueueView, strips: [String: PassStrip], at now: Double, as list: JobList = JobList(), on canvas: Canvas
    ) -> [ScreenLine] {
        let totals = totals(view, on: canvas) + view.unreadable.flatMap { unreadable($0.id, $0.reason, on: canvas) }
        guard !view.jobs.isEmpty else { return totals + [ScreenLine("no job waits or runs")] }
        let jobs = list.sorted(view.jobs)
        let counts = jobs.map(Figures.passes)
        let broad = counts.map(\.count).max() ?? 0
        // The strip stands beside the counts if enough columns are left for it, otherwise on a line of its own.
        let beside = canvas.columns - broad - 4 >= 20
        let width = beside ? min(canvas.columns - broad - 4, 100) : max(canvas.columns - 2, 1)
        let table = JobTable(jobs, at: now, on: canvas)
        let blocks = zip(zip(jobs, table.rows), counts).map { entry, count in
            let (job, head) = entry
            let strip = strips[job.id].map { StripText.line($0, width: width, on: canvas) } ?? ScreenLine()
            let below =
                beside
                ? [ScreenLine("  ") + strip + ScreenLine("  " + count)]
                : [ScreenLine("  ") + strip, ScreenLine("  " + count)]
            return [list.line(head, of: job)] + below + JobTable.reasons(job, on: canvas)
        }
        let legend = canvas.rows ?? .max < 16 ? [] : [ScreenLine(), StripText.legend(on: canvas)]
        let room = canvas.rows.map { $0 - totals.count - 2 - legend.count - 1 }
        let shown = fitting(blocks, room)
        let hidden = max(view.active + view.failed - view.unreadable.count - shown.count, 0)
        return totals + [ScreenLine(), table.head] + shown.joined()
            + (hidden > 0 ? [ScreenLine(hidden == 1 ? "1 job more" : "\(hidden) jobs more", .faint)] : []) + legend
    }

    private static func totals(_ view: QueueView, on canvas: Canvas) -> [ScreenLine] {
        let wait = view.oldestWait.map { ", oldest wait \(ClockTime.text(seconds: $0))" } ?? ""
        let eta = view.eta.map { ", ETA \(ClockTime.text(seconds: $0))" } ?? ""
        let passes = (view.passesPerSecond * 600).rounded() / 10
        return ScreenLine("\(Wording.count(view.active, "job")) active, \(view.failed) failed; ", .strong).followed(
            by: "\(Wording.count(view.workers, "worker")), \(view.slotsBusy) of "
                + "\(Wording.count(view.slots, "slot")) busy", on: canvas)
            + ScreenLine("passes: ").followed(
                by: "\(view.ready) ready, \(view.inFlight) in flight, \(view.retrying) retrying, "
                    + "\(view.exhausted) exhausted" + wait, on: canvas)
            + ScreenLine("last minute: ").followed(
                by: "\(Figures.speed(view.framesPerSecond)), \(passes) passes a minute" + eta, on: canvas)
    }

    /// A job of which the board holds unreadable data.
    static func unreadable(_ id: String, _ reason: String, on canvas: Canvas) -> [ScreenLine] {
        ScreenLine(id + "  cannot be read: ", .bad).followed(by: reason, on: canvas)
    }

    /// The first blocks, as many as the rows can show.
    private static func fitting(_ blocks: [[ScreenLine]], _ rows: Int?) -> [[ScreenLine]] {
        guard var rows else { return blocks }
        return Array(
            blocks.prefix { block in
                rows -= block.count
                return rows >= 0
            })
    }
}
