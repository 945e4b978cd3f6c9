internal import CFFmpeg
public import ReelCore

/// Makes an audio track's one segment: decoded once in full, read back from its end by sample frame, encoded once and
/// continuously, so that there are no joins to click. Sound that keeps its direction is read from its start instead,
/// or its packets are copied.
public struct AudioReverser {
    private let source: String
    private let track: AudioTrack
    private let target: AudioTarget
    private let timeline: Timeline
    private let container: Container
    /// Where the source file's clock starts, in seconds.
    private let zero: Rational
    /// When the first frame that is shown begins in the source, and how long the last one lasts, in seconds.
    private let firstFrame: Rational
    private let lastFrame: Rational

    /// `number` is the track's place in the plan.
    public init(source: String, index: SourceIndex, plan: Plan, number: Int) throws(ReelFailure) {
        guard plan.audio.indices.contains(number), index.audio.indices.contains(plan.audio[number].track) else {
            throw ReelFailure(.job, "the plan has no audio track \(number)")
        }
        self.source = source
        target = plan.audio[number]
        track = index.audio[target.track]
        timeline = plan.timeline
        container = plan.container
        zero = index.startTime
        let frames = index.video.frames[timeline.frames]
        firstFrame = timeline.timeBase.seconds(frames.first?.interval.start ?? timeline.end)
        lastFrame = timeline.timeBase.seconds(frames.last?.interval.duration ?? .zero)
    }

    /// Makes the segment. `progress` hears blocks decoded and encoded.
    public func reverse(
        into destination: PassReverser.Destination, scratch: String, progress: (_ decoded: Int, _ encoded: Int) -> Void
    ) throws(ReelFailure) -> PassResult {
        target.handling == .copied
            ? try copy(into: destination) { progress($0, $0) }
            : try encode(into: destination, scratch: scratch, progress)
    }

    private var name: String { "audio \(target.track)" }

    private func copy(
        into destination: PassReverser.Destination, progress: (Int) -> Void
    ) throws(ReelFailure) -> PassResult {
        var statistics = PassStatistics()
        let copy = AudioCopy(
            path: source, track: track, from: firstFrame, to: timeline.timeBase.seconds(timeline.end),
            hidesPreroll: container == .mp4 || container == .mov
                || track.codec == "opus" && (container == .mkv || container == .webm))
        let record = try measured(&statistics.waitSeconds) { () throws(ReelFailure) in
            try copy.write(to: destination, progress: progress)
        }
        statistics.peakRSS = peakResidentBytes()
        return PassResult(segments: [record], statistics: statistics, warnings: record.frames > 0 ? [] : [silent])
    }

    private func encode(
        into destination: PassReverser.Destination, scratch: String,
        _ progress: (_ decoded: Int, _ encoded: Int) -> Void
    ) throws(ReelFailure) -> PassResult {
        var statistics = PassStatistics()
        let decoded = try measured(&statistics.decodeSeconds) { () throws(ReelFailure) in
            try AudioDecoding(path: source, track: track, name: name, zero: zero, scratch: scratch) { progress($0, 0) }
        }
        var warnings = decoded.warnings
        let heard = heard(of: decoded, &warnings)
        let encoding = try AudioEncoding(
            target: target, track: track, source: decoded, folder: destination.folder,
            name: "\(destination.pass).0.\(destination.token).nut")
        var start: Int64 = 0
        if let heard {
            try measured(&statistics.encodeSeconds) { () throws(ReelFailure) in
                for stretch in target.handling == .reversed ? heard.backwards : heard.forwards {
                    try encoding.encode(stretch) { progress(decoded.blocks.count, $0) }
                }
                try encoding.drain()
            }
            let moment = target.handling == .reversed ? timeline.mirror(heard.end) : heard.start - firstFrame
            start = TimeBase(1, Int64(target.sampleRate)).ticks(in: moment, rounding: .nearest)
        } else {
            warnings.append(silent)
        }
        guard start.magnitude <= Timestamp.bound else {
            throw ReelFailure(.input, "\(source): \(name) lies beyond every clock from the video; use --audio none")
        }
        let record = try encoding.finish(pass: destination.pass, start: start)
        statistics.peakRSS = peakResidentBytes()
        return PassResult(segments: [record], statistics: statistics, warnings: warnings)
    }

    private var silent: String { "\(name): nothing is heard while the video lasts: the track is left out" }

    /// What the output lets hear; nil for nothing.
    private func heard(of decoded: AudioDecoding, _ warnings: inout [String]) -> AudioTimeline? {
        let whole = AudioTimeline(
            blocks: decoded.blocks, sampleRate: decoded.format.rate, longestHole: longestHole)
        guard let whole else { return nil }
        if whole.closedHoles > 0 {
            let holes = Wording.count(whole.closedHoles, "hole")
            warnings.append("\(name): \(holes) by its timestamps, too long to be any, closed")
        }
        let reversed = target.handling == .reversed
        let end = timeline.timeBase.seconds(timeline.end)
        let range = reversed ? (timeline.audioFrom, timeline.audioTo) : (firstFrame, end)
        guard let heard = whole.clipped(from: range.0, to: range.1) else { return nil }
        let holes = zip(heard.pieces, heard.pieces.dropFirst()).filter { !$1.followsLoss }
        if let (before, after) = holes.first {
            let place = { (sample: Int64) in
                Wording.seconds(heard.start - zero + Rational(sample, Int64(heard.sampleRate)))
            }
            let (from, to) = (place(before.place + before.count), place(after.place))
            let what = holes.count == 1 ? "a hole stays silent" : "\(holes.count) holes stay silent, the first"
            warnings.append("\(name): \(what), from \(from) to \(to)")
        }
        return reversed ? trimmed(heard, &warnings) : heard
    }

    /// As long as the video, which damaged timestamps may make long, too; where that is short, ten minutes.
    private var longestHole: Rational {
        min(max(timeline.timeBase.seconds(timeline.end) - firstFrame, Rational(600)), Rational(86_400))
    }

    /// Sound that outlasts the video by less than a frame is cut off, unless nothing may be lost: else all of the
    /// output would have to start later for its sake.
    private func trimmed(_ heard: AudioTimeline, _ warnings: inout [String]) -> AudioTimeline {
        let overhang = heard.end - timeline.timeBase.seconds(timeline.end)
        let frame = max(lastFrame, Rational(1024, Int64(heard.sampleRate)))
        guard !target.lossless, overhang > Rational(0), overhang < frame,
            let cut = heard.clipped(from: nil, to: timeline.timeBase.seconds(timeline.end))
        else { return heard }
        warnings.append("\(name): outlasts the video by \(decimal(overhang.approximate * 1000)) ms, which are cut off")
        return cut
    }
}
