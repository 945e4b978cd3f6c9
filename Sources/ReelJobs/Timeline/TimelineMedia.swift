internal import Foundation
internal import ReelCore

/// What a timeline says of a source.
struct TimelineMedia {
    private let path: String
    /// The frames of its video in a second, if all last equally long.
    let frameRate: Rational?
    /// Rates in which its ranges may be counted, the best first: frames, then ticks of its clock.
    let rates: [Rational]
    /// The moment that its own clock shows at the file's start, in seconds: its start timecode, if it has one.
    let start: Rational
    /// For how long its video lasts, in seconds from the file's start.
    let length: Rational

    init(path: String, index: SourceIndex) {
        self.path = path
        let clock = index.video.stream.timeBase
        frameRate = index.video.frameRate
        rates = (frameRate.map { [$0] } ?? []) + [Rational(1) / clock.secondsPerTick]
        let label = index.metadata.first { $0.name.lowercased() == "timecode" }?.value
        let timecode = frameRate.flatMap { rate in label.flatMap { StartTimecode($0, rate: rate) } }
        start = timecode.map { Rational($0.frames) / $0.rate } ?? Rational(0)
        length = TimelineMedia.whole(clock.seconds(index.video.end) - index.startTime, frameRate)
    }

    /// A time in seconds from the file's start, as a timeline has it: a time within a microsecond of a whole frame becomes
    /// that frame's, since the file's start is known only to a microsecond.
    func place(_ time: Rational) -> Rational { TimelineMedia.whole(time, frameRate) }

    private static func whole(_ time: Rational, _ rate: Rational?) -> Rational {
        guard let rate else { return time }
        let frame = Rational(TimeBase(1, 1).ticks(in: time * rate, rounding: .nearest)) / rate
        return max(frame, time) - min(frame, time) <= Rational(1, 1_000_000) ? frame : time
    }

    /// The file's name without its extension.
    var title: String { SubmittedEdit.title(of: path) }

    /// Its path from a folder if it lies in it, else a URL.
    func address(from folder: String) -> String {
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        let inside = path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : ""
        // A colon could be taken for the end of a URL's scheme.
        guard inside.isEmpty || inside.contains(":") else { return inside }
        return URL(fileURLWithPath: path).absoluteString
    }
}

extension VideoTrack {
    /// Frames per second, if all frames last equally long and follow one another.
    fileprivate var frameRate: Rational? {
        guard let first = frames.first?.interval, first.duration > .zero else { return nil }
        let isEven = frames.enumerated().allSatisfy { number, frame in
            frame.interval.duration == first.duration
                && frame.interval.start.ticks == first.start.ticks + Int64(number) * first.duration.count
        }
        return isEven ? Rational(1) / stream.timeBase.seconds(first.duration) : nil
    }
}
