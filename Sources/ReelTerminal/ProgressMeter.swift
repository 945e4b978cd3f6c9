internal import ReelWords

package struct ProgressSample: Hashable, Sendable {
    package var frames: Int
    /// Frames decoded so far; encoded frames count in any case.
    package var decoded: Int
    package var total: Int
    /// Whether all frames are encoded, and are being joined and verified.
    package var assembling: Bool
    /// Seconds since watching began.
    package var seconds: Double
    /// The clip of an edit that is worked on, in words, which may include a file's name; nil for none.
    package var clip: String?

    package init(frames: Int, decoded: Int = 0, total: Int, assembling: Bool, seconds: Double, clip: String? = nil) {
        (self.frames, self.decoded, self.total) = (frames, decoded, total)
        (self.assembling, self.seconds, self.clip) = (assembling, seconds, clip)
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
    private var saidAssembling = false

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
        let percent = percent(last), frames = "\(last.frames)/\(last.total) frames"
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
        if last.assembling {
            defer { saidAssembling = true }
            let words = ["100 %", "\(last.total) of \(last.total) frames", clip(last)].compactMap(\.self)
            return saidAssembling ? nil : words.joined(separator: ", ") + "; assembling"
        }
        let step = Int(last.fraction * 10)
        guard step > lastStep else { return nil }
        lastStep = step
        let rate = rate(last)
        return (["\(step * 10) %", "\(last.frames) of \(last.total) frames", rate.speed, rate.left, clip(last)])
            .compactMap(\.self).joined(separator: ", ")
    }

    private func clip(_ sample: ProgressSample) -> String? { sample.clip.map { Legible.line($0) } }

    private func percent(_ sample: ProgressSample) -> String {
        let number = "\(Int(sample.fraction * 100))"
        return String(repeating: " ", count: max(3 - number.count, 0)) + number + " %"
    }

    /// Speed, and the time that is left, as far as they are known.
    private func rate(_ sample: ProgressSample) -> (speed: String?, left: String?) {
        guard !sample.assembling else { return (nil, "assembling") }
        let speed = framesPerSecond.map { "\(($0 * 10).rounded() / 10) fps" }
        return (speed, secondsLeft.map { "ETA " + ClockTime.text(seconds: $0) })
    }
}
