internal import ReelWords

/// A job's progress at one moment.
public struct ProgressSample: Hashable, Sendable {
    /// Frames encoded so far.
    public var frames: Int
    /// Frames that the job has.
    public var total: Int
    /// Whether all frames are encoded, and are being joined and verified.
    public var assembling: Bool
    /// Seconds since watching began.
    public var seconds: Double
    /// The clip of an edit that is worked on, in words, of which a file's name may be part; nil for none.
    public var clip: String?

    package init(frames: Int, total: Int, assembling: Bool, seconds: Double, clip: String? = nil) {
        self.frames = frames
        self.total = total
        self.assembling = assembling
        self.seconds = seconds
        self.clip = clip
    }

    /// 0 to 1; an unfinished job never shows 1.
    var fraction: Double { total > 0 ? min(Double(frames) / Double(total), 1) : 0 }
}

/// Turns samples into text: a bar to be redrawn in place, or a line for each step of ten percent.
public struct ProgressMeter: Sendable {
    private var window: [ProgressSample] = []
    private var lastStep = -1
    private var saidAssembling = false

    /// A meter without samples.
    public init() {}

    /// Adds the newest sample. Speed is measured over the last 20 seconds, so that it does not jump with every pass and
    /// ignores frames that an earlier run of the same job had finished.
    public mutating func add(_ sample: ProgressSample) {
        window.append(sample)
        while window.count > 2, sample.seconds - window[1].seconds >= 20 { window.removeFirst() }
    }

    /// Frames per second over the window; nil until that is known.
    public var framesPerSecond: Double? {
        guard let first = window.first, let last = window.last, last.seconds > first.seconds,
            last.frames > first.frames
        else { return nil }
        return Double(last.frames - first.frames) / (last.seconds - first.seconds)
    }

    /// Seconds that are left at this speed; nil until that is known.
    public var secondsLeft: Double? {
        guard let last = window.last, let speed = framesPerSecond else { return nil }
        return Double(max(last.total - last.frames, 0)) / speed
    }

    /// The bar of a terminal that is `columns` wide, without line end: "[####------]  40 %  400/1000 frames  …".
    public func bar(columns: Int) -> String {
        guard let last = window.last else { return "" }
        var text = "  " + percent(last) + "  \(last.frames)/\(last.total) frames" + tail(last, separator: "  ")
        // The clip's name takes what a short bar leaves.
        let clip = clip(last, separator: "  ")
        if columns - text.count - clip.count - 3 >= 8 { text += clip }
        let room = min(40, columns - text.count - 3)
        guard room >= 8 else { return String(text.dropFirst(2).prefix(max(columns - 1, 0))) }
        let filled = Int(Double(room) * last.fraction)
        return "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: room - filled) + "]" + text
    }

    /// The next line for an output that is not a terminal; nil until another step of ten percent is done.
    public mutating func step() -> String? {
        guard let last = window.last else { return nil }
        if last.assembling {
            defer { saidAssembling = true }
            return saidAssembling ? nil : "100 %, \(last.total) of \(last.total) frames; assembling"
        }
        let step = Int(last.fraction * 10)
        guard step > lastStep else { return nil }
        lastStep = step
        return "\(step * 10) %, \(last.frames) of \(last.total) frames" + tail(last, separator: ", ")
            + clip(last, separator: ", ")
    }

    private func clip(_ sample: ProgressSample, separator: String) -> String {
        guard !sample.assembling, let clip = sample.clip else { return "" }
        return separator + Legible.line(clip)
    }

    private func percent(_ sample: ProgressSample) -> String {
        let number = "\(Int(sample.fraction * 100))"
        return String(repeating: " ", count: max(3 - number.count, 0)) + number + " %"
    }

    private func tail(_ sample: ProgressSample, separator: String) -> String {
        guard !sample.assembling else { return separator + "assembling" }
        guard let speed = framesPerSecond, let left = secondsLeft else { return "" }
        let tenths = (speed * 10).rounded() / 10
        return separator + "\(tenths) fps" + separator + "ETA " + ClockTime.text(seconds: left)
    }
}
