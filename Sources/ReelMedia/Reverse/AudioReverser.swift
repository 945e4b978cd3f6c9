internal import CFFmpeg
package import ReelCore

/// Makes the single segment of an audio track of a reversal. The track is decoded once and completely, read back from its
/// end sample by sample, and encoded once and continuously, so there are no joins that could click. Sound that keeps its
/// direction is read from its start instead, or its packets are copied.
package struct AudioReverser {
    private let source: Locator
    private let track: AudioTrack
    private let target: AudioTarget
    /// The clip to which the sound belongs.
    private let clip: Clip
    private let content: SegmentContent
    private let hidesPreroll: Bool
    /// For how long the sound has to last, in seconds; nil if it may begin and end when it does.
    private let length: Rational?
    /// The start of the source file's clock, in seconds.
    private let zero: Rational
    /// When the first frame that is shown begins in the source, and when the last one ends; in seconds.
    private let shown: (start: Rational, end: Rational)
    /// The duration of the last frame of the source that is shown, in seconds.
    private let lastFrame: Rational

    /// - Parameters:
    ///   - sources: those of the plan, in their order.
    ///   - number: the track's place in the plan.
    package init(sources: [IndexedSource], plan: Plan, number: Int) throws(ReelFailure) {
        let planned = PlannedSegments(plan: plan, indexes: sources.map(\.index))
        guard plan.audio.indices.contains(number), let content = planned.content(ofAudio: number) else {
            throw ReelFailure(.planLacks(part: .audioTrack, number: number))
        }
        self.content = content
        target = plan.audio[number]
        clip = plan.clips[0]
        source = sources[clip.source].locator
        let index = sources[clip.source].index
        track = index.audio[target.track]
        hidesPreroll = plan.container.hidesPreroll(of: track)
        length = plan.soundLength
        zero = index.startTime
        let clock = clip.map.source
        shown = (clock.seconds(clip.map.start), clock.seconds(clip.map.end))
        lastFrame = clock.seconds(index.video.frames[clip.frames].last?.interval.duration ?? .zero)
    }

    /// Makes the segment. Calls `progress` all the time, about once a packet.
    package func reverse(
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
        let whole = AudioTimeline(
            blocks: decoded.blocks, sampleRate: decoded.format.rate,
            longestHole: .longestHole(during: shown.end - shown.start))
        if let whole, whole.closedHoles > 0 {
            diagnostics.append(.holesClosed(track: target.track, holes: whole.closedHoles))
        }
        let encoding = try AudioEncoding(
            target: target, track: track, input: decoded.format, making: content, at: place, lasting: length)
        var start: Int64 = 0
        if let heard = whole.flatMap({ heard(of: $0) }) {
            diagnostics += heard.timeline.holes(track: target.track, zero: zero) + heard.trimmed
            let heard = heard.timeline
            try measured(&statistics.encodeSeconds) { () throws(ReelFailure) in
                let spans =
                    length == nil
                    ? heard.spans(target.direction) : heard.spans(in: placesShown(of: heard), target.direction)
                try encoding.encode(SpanCursor(spans, target.direction, of: decoded.spill), progress: progress)
                try encoding.drain()
            }
            if length == nil {
                start = TimeBase(1, Int64(target.sampleRate)).ticks(in: self.place(of: heard), rounding: .nearest)
            }
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

    /// The places of the sound that are heard while the video is shown.
    private func placesShown(of heard: AudioTimeline) -> Range<Int64> {
        let clock = TimeBase(1, Int64(heard.sampleRate))
        let first = clock.ticks(in: shown.start - heard.start, rounding: .nearest)
        return first..<first + max(clock.ticks(in: shown.end - shown.start, rounding: .nearest), 0)
    }

    /// When the sound begins in the output, in seconds.
    private func place(of heard: AudioTimeline) -> Rational {
        var map = clip.map
        map.direction = target.direction
        return min(map.place(heard.start), map.place(heard.end))
    }

    private var silent: Diagnostic { .soundNotHeard(track: target.track) }

    /// The part of the sound that a reversal contains, and the diagnostic if some was trimmed; nil if none is heard.
    private func heard(of whole: AudioTimeline) -> (timeline: AudioTimeline, trimmed: [Diagnostic])? {
        // Sound that keeps its direction with reversed pictures lasts as long as they do.
        let range = target.direction == clip.direction ? (clip.audioFrom, clip.audioTo) : (shown.start, shown.end)
        guard let heard = whole.clipped(from: range.0, to: range.1) else { return nil }
        if length != nil { return cut(heard) }
        return target.direction == .backwards ? trimmed(heard) : (heard, [])
    }

    /// Cuts off all sound beyond the video, of which a container without timestamps keeps nothing.
    private func cut(_ heard: AudioTimeline) -> (timeline: AudioTimeline, trimmed: [Diagnostic])? {
        guard let cut = heard.clipped(from: shown.start, to: shown.end) else { return nil }
        let beyond = Rational(heard.count - cut.count, Int64(heard.sampleRate))
        guard beyond > Rational(0), !isPadding(beyond, of: heard) else { return (cut, []) }
        return (cut, [.soundTrimmed(track: target.track, length: beyond)])
    }

    private func isPadding(_ overhang: Rational, of heard: AudioTimeline) -> Bool {
        !target.lossless && overhang <= Rational(AudioReverser.longestPadding, Int64(heard.sampleRate))
    }

    /// Cuts off sound that outlasts the video by less than a frame, unless the track must be lossless. Otherwise all of
    /// the output would have to start later.
    private func trimmed(_ heard: AudioTimeline) -> (timeline: AudioTimeline, trimmed: [Diagnostic]) {
        let overhang = heard.end - shown.end
        let frame = max(lastFrame, Rational(1024, Int64(heard.sampleRate)))
        guard !target.lossless, overhang > Rational(0), overhang < frame,
            let cut = heard.clipped(from: nil, to: shown.end)
        else { return (heard, []) }
        return (cut, isPadding(overhang, of: heard) ? [] : [.soundTrimmed(track: target.track, length: overhang)])
    }

    /// Encoders fill up their last packet with silence: of AAC it has 1024 samples, of MP3 1152.
    private static let longestPadding: Int64 = 1152
}

extension AudioTimeline {
    /// The diagnostic of holes that stay silent; empty if there are none. `zero` is the start of the file's clock, in
    /// seconds.
    func holes(track: Int, zero: Rational) -> [Diagnostic] {
        let holes = zip(pieces, pieces.dropFirst()).filter { !$1.followsLoss }
        guard let (before, after) = holes.first else { return [] }
        let place = { (sample: Int64) in self.start - zero + Rational(sample, Int64(self.sampleRate)) }
        let (from, to) = (place(before.place + before.count), place(after.place))
        return [.holesSilent(track: track, holes: holes.count, from: from, to: to)]
    }
}

extension Rational {
    /// The longest hole in the sound of a video, in seconds: as long as the video, which damaged timestamps may make too
    /// long, but at least ten minutes.
    static func longestHole(during video: Rational) -> Rational { min(max(video, Rational(600)), Rational(86_400)) }
}
