internal import Foundation
package import ReelCore
package import ReelJobs
internal import ReelWords
internal import Synchronization

/// Shows the progress of a job on standard error: a bar redrawn in place on a terminal, otherwise a line per ten
/// percent; and each warning once.
package struct ProgressDisplay {
    private var meter = ProgressMeter()
    private var said: Set<String> = []
    private var bar: RedrawnLine
    private var saidReading = false
    private let begun = ContinuousClock.now
    private let console: Console
    private let subject: BatchPlace?

    /// - Parameter subject: the video that the job is made of, if there are several; nil for the only one.
    package init(on console: Console, of subject: BatchPlace? = nil) {
        (self.console, self.subject) = (console, subject)
        bar = RedrawnLine(console: console)
    }

    /// Shows a job as it is now: its warnings, how far it is, and at last why it waits.
    package mutating func show(_ job: JobView) {
        warn(job.warnings.filter { $0 != job.waitReason })
        if !job.state.isTerminal { say(job.failures.flatMap(\.retries)) }
        // A job that is probed has no frames to count: it has no plan yet, or a pass has disproved its plan.
        if job.state == .probing { showReading() } else { showFrames(job) }
        warn([job.waitReason].compactMap(\.self))
    }

    private mutating func showFrames(_ job: JobView) {
        let seconds = (ContinuousClock.now - begun) / .seconds(1)
        let frames = min(job.framesEncoded, job.frames)
        meter.add(
            ProgressSample(
                frames: frames, decoded: job.framesDecoded, total: job.frames,
                // With passthrough the assembly writes the frames.
                assembling: job.state == .done || job.state == .assembling && frames == job.frames,
                seconds: seconds, clip: clip(of: job)))
        if let columns = console.columns {
            bar.show(meter.bar(columns: columns), columns: columns)
        } else if let line = meter.step() {
            console.say(line)
        }
    }

    /// The video of the batch and the clip of the job that are worked on.
    private func clip(of job: JobView) -> String? {
        let words = [subject?.words, job.clips.atWork].compactMap(\.self)
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    private mutating func showReading() {
        if let columns = console.columns {
            bar.show("reading the source", columns: columns)
        } else if !saidReading {
            console.say("reading the source")
        }
        saidReading = true
    }

    /// Prints warnings, which stay above the bar, once each.
    package mutating func warn(_ warnings: [String]) { say(warnings) { [subject] in $0.warn($1, of: subject) } }

    private mutating func say(_ lines: [String], _ print: (Console, String) -> Void = { $0.say($1) }) {
        for line in lines where said.insert(line).inserted {
            clear()
            print(console, line)
        }
    }

    /// Warnings that were printed elsewhere.
    package mutating func assumeSaid(_ diagnostics: [Diagnostic]) { said.formUnion(diagnostics.map(\.words)) }

    /// Removes the bar, so that other lines can be printed.
    package mutating func clear() { bar.clear() }
}

/// The place of a video among the videos of a command.
package struct BatchPlace: Hashable, Sendable {
    /// Counted from 1.
    let number: Int
    /// How many there are; at least two.
    let count: Int
    let path: String

    /// The place of a video, counted from 0; nil if it is the only one.
    package init?(_ place: Int, of count: Int, path: String) {
        guard count > 1 else { return nil }
        (number, self.count, self.path) = (place + 1, count, path)
    }

    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// "2 of 3, day.mov".
    var words: String { "\(number) of \(count), \(name)" }
}

extension [ClipProgress] {
    /// The first clip that is worked on: "clip 2 of 5, day.mov". Nil if there is none.
    fileprivate var atWork: String? {
        guard let place = firstIndex(where: { $0.passesLive > 0 }) else { return nil }
        return "clip \(place + 1) of \(count)" + (self[place].source.map { ", \($0)" } ?? ", black")
    }
}

extension FailureView {
    /// A line for each failed attempt of a pass that is tried again. The time tells two attempts apart that failed
    /// alike.
    package var retries: [String] {
        let name = index < 0 ? "the source" : kind == "assembly" ? "the assembly" : "pass \(index)"
        return recent.map { attempt in
            let time = Date(timeIntervalSince1970: attempt.time.rounded(.down)).formatted(.iso8601)
            return "\(name) is tried again, since at \(time) on \(attempt.host) \(attempt.message)"
        }
    }
}

/// Shows on standard error how much of a source has been read, if that takes longer than a moment: redrawn in place on
/// a terminal, otherwise a line per ten percent.
package final class ReadingDisplay: Sendable {
    private struct State {
        var begun: ContinuousClock.Instant?
        var step = 0
        var line: RedrawnLine
    }

    private let state: Mutex<State>
    private let console: Console

    package init(on console: Console) {
        self.console = console
        state = Mutex(State(line: RedrawnLine(console: console)))
    }

    /// Most sources are read by then.
    private static let patience = Duration.seconds(2)

    /// Takes the share that has been read, from 0 to 1.
    package var heard: JobService.Reading { { [self] share in show(Int(share * 100)) } }

    private func show(_ percent: Int) {
        state.withLock { state in
            let begun = state.begun ?? .now
            state.begun = begun
            guard .now - begun >= Self.patience else { return }
            if let columns = console.columns {
                state.line.show("reading the source, \(percent) %", columns: columns)
            } else if percent / 10 > state.step {
                state.step = percent / 10
                console.say("reading the source, \(state.step * 10) %")
            }
        }
    }

    package func clear() {
        state.withLock { state in
            state.line.clear()
            (state.begun, state.step) = (nil, 0)
        }
    }
}

/// A line on standard error that is written over again and again, on a terminal whose width may change.
package struct RedrawnLine: Sendable {
    let console: Console
    /// The number of characters that the terminal shows of it.
    private(set) var width = 0

    /// Writes the line over the one before. The text has no more characters than the terminal has columns.
    mutating func show(_ text: String, columns: Int) {
        console.write(RedrawnLine.erasing(width, columns: columns) + text)
        width = text.count
    }

    /// Removes the line, so that other lines can be printed.
    mutating func clear() {
        guard width > 0 else { return }
        console.write(RedrawnLine.erasing(width, columns: console.columns ?? width))
        width = 0
    }

    /// What erases a line of this many characters. A terminal that has become narrower has broken it into several rows.
    package static func erasing(_ width: Int, columns: Int) -> String {
        let above = max(width - 1, 0) / max(columns, 1)
        return (above > 0 ? "\u{1B}[\(above)A" : "") + "\r" + (above > 0 ? "\u{1B}[J" : "\u{1B}[K")
    }
}

extension JobSpec {
    /// "240 frames", as the message at a job's end counts them. A clip that is played several times is made once.
    package func countedFrames(_ made: Int) -> String {
        edit == nil ? Wording.count(made, "frame") : Wording.count(made, "frame") + " made"
    }
}
