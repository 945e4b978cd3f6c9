internal import CFFmpeg
public import ReelCore

/// Makes an audio track's single segment. The track is decoded once and completely, read back from its end sample by
/// sample, and encoded once and continuously, so there are no joins that could click. Sound that keeps its direction is
/// read from its start instead, or its packets are copied.
public struct AudioReverser {
    private let source: Locator
    private let track: AudioTrack
    private let target: AudioTarget
    /// The clip to which the sound belongs.
    private let clip: Clip
    private let content: SegmentContent
    private let hidesPreroll: Bool
    /// The start of the source file's clock, in seconds.
    private let zero: Rational
    /// When the first frame that is shown begins in the source, and when the last one ends; in seconds.
    private let shown: (start: Rational, end: Rational)
    /// The duration of the last frame of the source that is shown, in seconds.
    private let lastFrame: Rational

    /// - Parameters:
    ///   - sources: those of the plan, in their order.
    ///   - number: the track's place in the plan.
    public init(sources: [IndexedSource], plan: Plan, number: Int) throws(ReelFailure) {
        let planned = PlannedSegments(plan: plan, indexes: sources.map(\.index))
        guard plan.audio.indices.contains(number), let content = planned.content(ofAudio: number) else {
            throw ReelFailure(.planLacks(part: .audioTrack, number: number))
        }
        self.content = content
        target = plan.audio[number]
        clip = plan.clips[target.clip]
        source = sources[clip.source].locator
        let index = sources[clip.source].index
        track = index.audio[target.track]
        hidesPreroll = plan.container.hidesPreroll(of: track)
        zero = index.startTime
        let clock = clip.map.source
        shown = (clock.seconds(clip.map.start), clock.seconds(clip.map.end))
        lastFrame = clock.seconds(index.video.frames[clip.frames].last?.interval.duration ?? .zero)
    }

    /// Makes the segment. Calls `progress` all the time, about once a packet.
    public func reverse(
        at place: SegmentPlace, scratch: String, progress: () -> Void
    ) throws(ReelFailure) -> PassResult {
        target.isPassthrough
            ? try copy(at: place, progress)
            : try encode(at: place, scratch: scratch, progress)
    }

    private func copy(at place: SegmentPlace, _ progress: () -> Void) throws(ReelFailure) -> PassResult {
        var statistics = PassStatistics()
        let copy = AudioPassthrough(
            source: source, track: track, from: shown.start, to: shown.end,
            hidesPreroll: hidesPreroll)
        let record = try measured(&statistics.waitSeconds) { () throws(ReelFailure) in
            try copy.write(making: content, to: place, ifSilent: silent, progress: progress)
        }
        statistics.peakRSS = peakResidentBytes()
        return PassResult(segments: [record], statistics: statistics, diagnostics: record.diagnostics)
    }

    private func encode(
        at place: SegmentPlace, scratch: String, _ progress: () -> Void
    ) throws(ReelFailure) -> PassResult {
        var statistics = PassStatistics()
        let decoded = try measured(&statistics.decodeSeconds) { () throws(ReelFailure) in
            try AudioDecoding(
                source, track: track, number: target.track, zero: zero, scratch: scratch, progress: progress)
        }
        var diagnostics = decoded.diagnostics
        let heard = heard(of: decoded, &diagnostics)
        let encoding = try AudioEncoding(
            target: target, track: track, source: decoded, making: content, at: place)
        var start: Int64 = 0
        if let heard {
            try measured(&statistics.encodeSeconds) { () throws(ReelFailure) in
                for span in heard.spans(target.direction) {
                    try encoding.encode(span, progress: progress)
                }
                try encoding.drain()
            }
            start = TimeBase(1, Int64(target.sampleRate)).ticks(in: self.place(of: heard), rounding: .nearest)
        } else {
            diagnostics.append(silent)
        }
        guard start.magnitude <= Timestamp.bound else {
            throw ReelFailure(
                .soundOutOfReach(path: source.name, distance: Rational(start, Int64(target.sampleRate))))
        }
        let record = try encoding.finish(start: start, diagnostics: diagnostics)
        statistics.peakRSS = peakResidentBytes()
        return PassResult(segments: [record], statistics: statistics, diagnostics: record.diagnostics)
    }

    /// When the sound begins in the output, in seconds.
    private func place(of heard: AudioTimeline) -> Rational {
        var map = clip.map
        map.direction = target.direction
        return min(map.place(heard.start), map.place(heard.end))
    }

    private var silent: Diagnostic { .soundNotHeard(track: target.track) }

    /// The part of the sound that the output contains; nil for none.
    private func heard(of decoded: AudioDecoding, _ diagnostics: inout [Diagnostic]) -> AudioTimeline? {
        let whole = AudioTimeline(
            blocks: decoded.blocks, sampleRate: decoded.format.rate, longestHole: longestHole)
        guard let whole else { return nil }
        if whole.closedHoles > 0 {
            diagnostics.append(.holesClosed(track: target.track, holes: whole.closedHoles))
        }
        // Sound that keeps its direction with reversed pictures lasts as long as they do.
        let range = target.direction == clip.direction ? (clip.audioFrom, clip.audioTo) : (shown.start, shown.end)
        guard let heard = whole.clipped(from: range.0, to: range.1) else { return nil }
        let holes = zip(heard.pieces, heard.pieces.dropFirst()).filter { !$1.followsLoss }
        if let (before, after) = holes.first {
            let place = { (sample: Int64) in
                heard.start - zero + Rational(sample, Int64(heard.sampleRate))
            }
            let (from, to) = (place(before.place + before.count), place(after.place))
            diagnostics.append(.holesSilent(track: target.track, holes: holes.count, from: from, to: to))
        }
        return target.direction == .backwards ? trimmed(heard, &diagnostics) : heard
    }

    /// The longest hole: as long as the video, which damaged timestamps may make too long, but at least ten minutes.
    private var longestHole: Rational {
        min(max(shown.end - shown.start, Rational(600)), Rational(86_400))
    }

    /// Cuts off sound that outlasts the video by less than a frame, unless the track must be lossless. Otherwise all of
    /// the output would have to start later.
    private func trimmed(_ heard: AudioTimeline, _ diagnostics: inout [Diagnostic]) -> AudioTimeline {
        let overhang = heard.end - shown.end
        let frame = max(lastFrame, Rational(1024, Int64(heard.sampleRate)))
        guard !target.lossless, overhang > Rational(0), overhang < frame,
            let cut = heard.clipped(from: nil, to: shown.end)
        else { return heard }
        diagnostics.append(.soundTrimmed(track: target.track, length: overhang))
        return cut
    }
}
