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
    private let content: SegmentContent
    private let hidesPreroll: Bool
    /// Where the source file's clock starts, in seconds.
    private let zero: Rational
    /// When the first frame that is shown begins in the source, and how long the last one lasts, in seconds.
    private let firstFrame: Rational
    private let lastFrame: Rational

    /// `number` is the track's place in the plan.
    public init(source: String, index: SourceIndex, plan: Plan, number: Int) throws(ReelFailure) {
        guard plan.audio.indices.contains(number), index.audio.indices.contains(plan.audio[number].track) else {
            throw ReelFailure(.planLacks(part: .audioTrack, number: number))
        }
        guard let content = PlannedSegments(plan: plan, index: index).content(ofAudio: number) else {
            throw ReelFailure(.planLacks(part: .audioTrack, number: number))
        }
        self.content = content
        self.source = source
        target = plan.audio[number]
        track = index.audio[target.track]
        timeline = plan.timeline
        hidesPreroll = plan.container.hidesPreroll(of: track)
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

    private func copy(
        into destination: PassReverser.Destination, progress: (Int) -> Void
    ) throws(ReelFailure) -> PassResult {
        var statistics = PassStatistics()
        let copy = AudioPassthrough(
            path: source, track: track, from: firstFrame, to: timeline.timeBase.seconds(timeline.end),
            hidesPreroll: hidesPreroll)
        let record = try measured(&statistics.waitSeconds) { () throws(ReelFailure) in
            try copy.write(making: content, to: destination, ifSilent: silent, progress: progress)
        }
        statistics.peakRSS = peakResidentBytes()
        return PassResult(segments: [record], statistics: statistics, diagnostics: record.diagnostics)
    }

    private func encode(
        into destination: PassReverser.Destination, scratch: String,
        _ progress: (_ decoded: Int, _ encoded: Int) -> Void
    ) throws(ReelFailure) -> PassResult {
        var statistics = PassStatistics()
        let decoded = try measured(&statistics.decodeSeconds) { () throws(ReelFailure) in
            try AudioDecoding(path: source, track: track, number: target.track, zero: zero, scratch: scratch) {
                progress($0, 0)
            }
        }
        var diagnostics = decoded.diagnostics
        let heard = heard(of: decoded, &diagnostics)
        let encoding = try AudioEncoding(
            target: target, track: track, source: decoded, making: content, into: destination)
        var start: Int64 = 0
        if let heard {
            try measured(&statistics.encodeSeconds) { () throws(ReelFailure) in
                for span in target.handling == .reversed ? heard.backwards : heard.forwards {
                    try encoding.encode(span) { progress(decoded.blocks.count, $0) }
                }
                try encoding.drain()
            }
            let moment = target.handling == .reversed ? timeline.mirror(heard.end) : heard.start - firstFrame
            start = TimeBase(1, Int64(target.sampleRate)).ticks(in: moment, rounding: .nearest)
        } else {
            diagnostics.append(silent)
        }
        guard start.magnitude <= Timestamp.bound else {
            throw ReelFailure(
                .soundOutOfReach(path: source, distance: Rational(start, Int64(target.sampleRate))))
        }
        let record = try encoding.finish(start: start, diagnostics: diagnostics)
        statistics.peakRSS = peakResidentBytes()
        return PassResult(segments: [record], statistics: statistics, diagnostics: record.diagnostics)
    }

    private var silent: Diagnostic { .soundNotHeard(track: target.track) }

    /// What the output lets hear; nil for nothing.
    private func heard(of decoded: AudioDecoding, _ diagnostics: inout [Diagnostic]) -> AudioTimeline? {
        let whole = AudioTimeline(
            blocks: decoded.blocks, sampleRate: decoded.format.rate, longestHole: longestHole)
        guard let whole else { return nil }
        if whole.closedHoles > 0 {
            diagnostics.append(.holesClosed(track: target.track, holes: whole.closedHoles))
        }
        let reversed = target.handling == .reversed
        let end = timeline.timeBase.seconds(timeline.end)
        let range = reversed ? (timeline.audioFrom, timeline.audioTo) : (firstFrame, end)
        guard let heard = whole.clipped(from: range.0, to: range.1) else { return nil }
        let holes = zip(heard.pieces, heard.pieces.dropFirst()).filter { !$1.followsLoss }
        if let (before, after) = holes.first {
            let place = { (sample: Int64) in
                heard.start - zero + Rational(sample, Int64(heard.sampleRate))
            }
            let (from, to) = (place(before.place + before.count), place(after.place))
            diagnostics.append(.holesSilent(track: target.track, holes: holes.count, from: from, to: to))
        }
        return reversed ? trimmed(heard, &diagnostics) : heard
    }

    /// As long as the video, which damaged timestamps may make long, too; where that is short, ten minutes.
    private var longestHole: Rational {
        min(max(timeline.timeBase.seconds(timeline.end) - firstFrame, Rational(600)), Rational(86_400))
    }

    /// Sound that outlasts the video by less than a frame is cut off, unless nothing may be lost: else all of the
    /// output would have to start later for its sake.
    private func trimmed(_ heard: AudioTimeline, _ diagnostics: inout [Diagnostic]) -> AudioTimeline {
        let overhang = heard.end - timeline.timeBase.seconds(timeline.end)
        let frame = max(lastFrame, Rational(1024, Int64(heard.sampleRate)))
        guard !target.lossless, overhang > Rational(0), overhang < frame,
            let cut = heard.clipped(from: nil, to: timeline.timeBase.seconds(timeline.end))
        else { return heard }
        diagnostics.append(.soundTrimmed(track: target.track, length: overhang))
        return cut
    }
}
