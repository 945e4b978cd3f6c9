public import ReelCore
internal import ReelJobs
public import ReelQueue
internal import ReelWords

/// Shows a job's progress on standard error: a bar redrawn in place on a terminal, otherwise a line for each ten percent.
/// Shows each warning once.
public struct ProgressDisplay {
    private var meter = ProgressMeter()
    private var said: Set<String> = []
    private var barIsShown = false
    private var saidReading = false
    private let begun = ContinuousClock.now
    private let console: Console

    /// A display that has shown nothing yet.
    public init(on console: Console) { self.console = console }

    /// Shows the job's current status and its new warnings.
    public mutating func show(_ status: JobStatus) {
        warn(JobView(status, output: nil).warnings)
        // No frames are planned yet, or no longer, if a pass has disproved the plan.
        guard status.state != .probing else { return showReading() }
        let seconds = (ContinuousClock.now - begun) / .seconds(1)
        let frames = min(status.framesEncoded, status.job.frames)
        meter.add(
            ProgressSample(
                frames: frames, total: status.job.frames,
                // With passthrough the assembly itself makes the frames.
                assembling: status.state == .done || status.state == .assembling && frames == status.job.frames,
                seconds: seconds))
        if let columns = console.columns {
            console.write("\r\u{1B}[K" + meter.bar(columns: columns))
            barIsShown = true
        } else if let line = meter.step() {
            console.say(line)
        }
    }

    private mutating func showReading() {
        if console.columns != nil {
            console.write("\r\u{1B}[Kreading the source")
            barIsShown = true
        } else if !saidReading {
            console.say("reading the source")
        }
        saidReading = true
    }

    /// Shows warnings as lines above the bar, except for those that were shown before.
    public mutating func warn(_ warnings: [String]) {
        for warning in warnings where said.insert(warning).inserted {
            clear()
            console.say("warning: \(warning)")
        }
    }

    /// Counts diagnostics as shown, since the caller has shown them.
    public mutating func assumeSaid(_ diagnostics: [Diagnostic]) { said.formUnion(diagnostics.map(\.words)) }

    /// Removes the bar, so that other lines can follow.
    public mutating func clear() {
        if barIsShown { console.write("\r\u{1B}[K") }
        barIsShown = false
    }
}
