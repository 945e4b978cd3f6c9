public import ReelCore
internal import ReelJobs
public import ReelQueue
internal import ReelWords

/// Shows on standard error how a job goes: a bar redrawn in place on a terminal, else a line per ten percent; and each
/// warning once.
public struct ProgressDisplay {
    private var meter = ProgressMeter()
    private var said: Set<String> = []
    private var barIsShown = false
    private var saidReading = false
    private let begun = ContinuousClock.now
    private let console: Console

    public init(on console: Console) { self.console = console }

    public mutating func show(_ status: JobStatus) {
        warn(JobView(status, output: nil).warnings)
        // There are no frames to be counted yet, or no more, where a pass has found others than were planned.
        guard status.state != .probing else { return showReading() }
        let seconds = (ContinuousClock.now - begun) / .seconds(1)
        let frames = min(status.framesEncoded, status.job.frames)
        meter.add(
            ProgressSample(
                frames: frames, total: status.job.frames,
                // Where packets are copied the assembly makes the frames.
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

    /// Lines that stay above the bar; what was said before is not said again.
    public mutating func warn(_ warnings: [String]) {
        for warning in warnings where said.insert(warning).inserted {
            clear()
            console.say("warning: \(warning)")
        }
    }

    /// What was said elsewhere.
    public mutating func assumeSaid(_ diagnostics: [Diagnostic]) { said.formUnion(diagnostics.map(\.words)) }

    /// Takes the bar away, for what is said after it.
    public mutating func clear() {
        if barIsShown { console.write("\r\u{1B}[K") }
        barIsShown = false
    }
}
