internal import Foundation
package import ReelCore
package import ReelJobs
package import ReelStore
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
        // A job of sound alone has no frames to count.
        let isOfSound = job.frames == 0 && job.passes > 0
        meter.add(
            ProgressSample(
                frames: isOfSound ? job.passesDone : frames, decoded: job.framesDecoded,
                total: isOfSound ? job.passes : job.frames, unit: isOfSound ? .passes : .frames,
                // With passthrough the assembly writes the frames.
                assembling: job.state == .done || job.state == .assembling && frames == job.frames,
                assembled: job.assembled, seconds: seconds, clip: clip(of: job)))
        if let columns = console.columns {
            bar.show(meter.bar(columns: columns), columns: columns)
        } else if let line = meter.step() {
            console.say(line)
        }
    }

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

extension JobView {
    /// "wrote b.mp4: 240 frames in 0:07, 1.4 MiB; the source has 1.3 MiB", at a job's end. If the output is much larger
    /// than the source, and no option sets its quality, the text also names options that make it smaller.
    ///
    /// - Parameters:
    ///   - job: its record. A part of a source is not compared with all of it.
    ///   - time: how long it took, if that is known.
    package func wrote(_ path: String, _ job: JobRecord, in time: String? = nil) -> String {
        let spec = job.spec
        let counted =
            spec.container.traits.isOfSound
            ? "sound" : Wording.count(outputFrames ?? frames, "frame")
        let size = outputBytes.map { ", \(ByteSize(bytes: $0))" } ?? ""
        var whole = ""
        if size != "", spec.edit == nil, spec.from == nil, spec.to == nil, spec.duration == nil {
            let source = job.source.fingerprint.size
            whole = "; the source has \(ByteSize(bytes: source))"
            let isChosen = spec.crf != nil || spec.bitrate != nil || spec.mostBytes != nil || spec.lossless
            if !isChosen, spec.container.limitsSize, spec.container.traits.loops == nil,
                Double(outputBytes ?? 0) > 1.5 * Double(source)
            {
                whole += ", and --bitrate source or --max-size make the output smaller"
            }
        }
        return "wrote \(path): \(counted)\(time.map { " in \($0)" } ?? "")\(size)\(whole)"
    }
}

package struct ProgressSample: Hashable, Sendable {
    package var frames: Int
    /// Frames decoded so far; encoded frames count in any case.
    package var decoded: Int
    package var total: Int
    package var unit: Unit
    /// Whether all frames are encoded, and are being joined and verified.
    package var assembling: Bool
    /// How much of that is done, 0 to 1; nil if that is not known.
    package var assembled: Double?
    /// Since watching began.
    package var seconds: Double
    /// The clip of an edit that is worked on, in words, which may include a file's name; nil for none.
    package var clip: String?

    /// What is counted.
    package enum Unit: String, Sendable { case frames, passes }

    package init(
        frames: Int, decoded: Int = 0, total: Int, unit: Unit = .frames, assembling: Bool,
        assembled: Double? = nil, seconds: Double, clip: String? = nil
    ) {
        (self.frames, self.decoded, self.total, self.unit) = (frames, decoded, total, unit)
        (self.assembling, self.assembled, self.seconds, self.clip) = (assembling, assembled, seconds, clip)
    }

    /// Frames decoded and frames encoded. A pass decodes many frames before it encodes the first, so that neither
    /// number alone moves all the time.
    var work: Int { frames + max(frames, min(decoded, total)) }

    /// 0 to 1; an unfinished job never shows 1.
    var fraction: Double { total > 0 ? min(Double(work) / Double(2 * total), 1) : 0 }
}

/// Turns samples into text: a bar to be redrawn in place, or a line for each step of ten percent.
package struct ProgressMeter: Sendable {
    private var window: [ProgressSample] = []
    /// The sample at which work was last done. Workers report it now and then.
    private var latest: ProgressSample?
    private var lastStep = -1
    /// When it was said that the job is assembled, and how much of it since.
    private var saidAssembling: (begun: Double, step: Int)?
    /// Most jobs are assembled by then.
    private static let patience = 5.0

    package init() {}

    /// Adds the newest sample. Speed is measured over the last 20 seconds, so that it does not jump with every pass and
    /// ignores frames that an earlier run of the same job had finished.
    package mutating func add(_ sample: ProgressSample) {
        if latest.map({ $0.work != sample.work || $0.total != sample.total }) ?? true { latest = sample }
        window.append(sample)
        while window.count > 2, sample.seconds - window[1].seconds >= 20 { window.removeFirst() }
    }

    /// Frames per second over the window; nil until that is known.
    package var framesPerSecond: Double? { speed(\.frames) }

    /// Seconds that are left at the present speed; nil until that is known. Between two reports of work it falls with
    /// the time.
    package var secondsLeft: Double? {
        guard let now = window.last, let latest, let speed = speed(\.work) else { return nil }
        return max(Double(max(2 * latest.total - latest.work, 0)) / speed - (now.seconds - latest.seconds), 0)
    }

    private func speed(_ count: KeyPath<ProgressSample, Int>) -> Double? {
        guard let first = window.first, let latest, latest.seconds > first.seconds,
            latest[keyPath: count] > first[keyPath: count]
        else { return nil }
        return Double(latest[keyPath: count] - first[keyPath: count]) / (latest.seconds - first.seconds)
    }

    /// The bar of a terminal that is `columns` wide, without line end: "[####------]  40 %  400/1000 frames  …". What
    /// does not fit is left out as a whole.
    package func bar(columns: Int) -> String {
        guard let last = window.last else { return "" }
        let percent = percent(last), frames = "\(last.frames)/\(last.total) \(last.unit)"
        let rate = rate(last)
        let numbers = [
            [percent, frames, rate.speed, rate.left], [percent, frames, rate.left], [percent, rate.left], [percent],
        ].map { $0.compactMap(\.self).joined(separator: "  ") }
        var text = numbers.first { $0.count < columns } ?? ""
        // The clip's name takes what a short bar leaves.
        if let clip = clip(last), text == numbers[0], columns - text.count - clip.count - 7 >= 8 { text += "  " + clip }
        let room = min(40, columns - text.count - 5)
        guard room >= 8 else { return text }
        let filled = Int(Double(room) * last.fraction)
        return "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: room - filled) + "]  " + text
    }

    /// The next line for an output that is not a terminal; nil until another step of ten percent is done.
    package mutating func step() -> String? {
        guard let last = window.last else { return nil }
        if last.assembling { return assemblingStep(last) }
        let step = Int(last.fraction * 10)
        guard step > lastStep else { return nil }
        lastStep = step
        let rate = rate(last)
        return (["\(step * 10) %", "\(last.frames) of \(last.total) \(last.unit)", rate.speed, rate.left, clip(last)])
            .compactMap(\.self).joined(separator: ", ")
    }

    private mutating func assemblingStep(_ last: ProgressSample) -> String? {
        guard let said = saidAssembling else {
            saidAssembling = (last.seconds, 0)
            let words = ["100 %", "\(last.total) of \(last.total) \(last.unit)", clip(last)].compactMap(\.self)
            return words.joined(separator: ", ") + "; assembling"
        }
        let step = Int((last.assembled ?? 0) * 10)
        guard step > said.step, last.seconds - said.begun >= Self.patience else { return nil }
        saidAssembling?.step = step
        return "assembling, \(step * 10) %"
    }

    private func clip(_ sample: ProgressSample) -> String? { sample.clip.map { Legible.line($0) } }

    private func percent(_ sample: ProgressSample) -> String {
        let number = "\(Int(sample.fraction * 100))"
        return String(repeating: " ", count: max(3 - number.count, 0)) + number + " %"
    }

    /// Speed, and the time that is left, as far as they are known.
    private func rate(_ sample: ProgressSample) -> (speed: String?, left: String?) {
        guard !sample.assembling else {
            return (nil, "assembling" + (sample.assembled.map { ", \(Figures.percent($0))" } ?? ""))
        }
        let speed = sample.unit == .frames ? framesPerSecond.map(Figures.speed) : nil
        return (speed, secondsLeft.map { "ETA " + ClockTime.text(seconds: $0) })
    }
}
