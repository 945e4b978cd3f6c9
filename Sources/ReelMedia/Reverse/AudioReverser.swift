internal import CFFmpeg
public import ReelCore

/// Reverses an audio track: decoded once in full, read back from its end by sample frame, encoded once and
/// continuously, so that there are no joins to click.
public struct AudioReverser {
    private let source: String
    private let track: AudioTrack
    private let target: AudioTarget
    private let timeline: Timeline
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
        let slot = index.video.frames[timeline.frames.upperBound - 1]
        lastFrame = timeline.timeBase.seconds(slot.interval.duration)
    }

    /// Makes the track's one segment. `progress` hears blocks decoded and encoded.
    public func reverse(
        into destination: PassReverser.Destination, scratch: String, progress: (_ decoded: Int, _ encoded: Int) -> Void
    ) throws(ReelFailure) -> PassResult {
        var statistics = PassStatistics()
        let decoded = try measured(&statistics.decodeSeconds) { () throws(ReelFailure) in
            try AudioDecoding(path: source, track: track, scratch: scratch) { progress($0, 0) }
        }
        guard
            let whole = AudioTimeline(blocks: decoded.blocks, sampleRate: track.sampleRate),
            let heard = whole.clipped(from: timeline.audioFrom, to: timeline.audioTo)
        else {
            throw ReelFailure(
                .input, "\(source): audio stream \(track.index) is silent in the chosen range; use --audio none")
        }
        var warnings: [String] = []
        let holes = heard.pieces.count - 1
        if holes > 0 { warnings.append("audio \(target.track): \(holes) holes stay silent") }
        let placed = trimmed(heard, &warnings)

        let encoding = try AudioEncoding(
            target: target, source: decoded, channels: track.channelLayout, sourceRate: track.sampleRate,
            folder: destination.folder, name: "\(destination.pass).0.\(destination.token).nut")
        try measured(&statistics.encodeSeconds) { () throws(ReelFailure) in
            for stretch in placed.backwards {
                try encoding.encode(stretch) { progress(decoded.blocks.count, $0) }
            }
            try encoding.drain()
        }
        let clock = TimeBase(1, Int64(target.sampleRate))
        let start = clock.ticks(in: timeline.mirror(placed.end), rounding: .nearest)
        let record = try encoding.finish(pass: destination.pass, start: start)
        statistics.peakRSS = peakResidentBytes()
        return PassResult(segments: [record], statistics: statistics, warnings: warnings)
    }

    /// Sound that outlasts the video by less than a frame is cut off, unless nothing may be lost: else all of the
    /// output would have to start later for its sake.
    private func trimmed(_ heard: AudioTimeline, _ warnings: inout [String]) -> AudioTimeline {
        let overhang = heard.end - timeline.timeBase.seconds(timeline.end)
        let frame = max(lastFrame, Rational(1024, Int64(track.sampleRate)))
        guard !target.lossless, overhang > Rational(0), overhang < frame,
            let cut = heard.clipped(from: nil, to: timeline.timeBase.seconds(timeline.end))
        else { return heard }
        warnings.append(
            "audio \(target.track): outlasts the video by \(decimal(overhang.approximate * 1000)) ms, which are cut off"
        )
        return cut
    }
}
