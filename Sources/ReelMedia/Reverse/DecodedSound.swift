internal import ReelCore

/// An audio track of a source, decoded once into a spill, in one format: all of it, or a part of a steady track.
final class DecodedSound {
    let spill: SampleSpill
    /// The format of the samples in the spill, with channels interleaved.
    let format: SoundFormat
    /// When the samples are heard; a reversal narrows it to the part that it contains.
    var timeline: AudioTimeline
    /// What decoding has found; `holes` are beside these.
    let diagnostics: [Diagnostic]
    private let number: Int
    /// The start of the source file's clock, in seconds.
    private let zero: Rational

    /// Decodes the whole track. Calls `progress` after each packet. `format` is that of the samples in the spill; nil for
    /// that of the first sound. `video` is the time in seconds for which the source is shown; nil for all of it.
    init(
        _ source: IndexedSource, track number: Int, as format: SoundFormat? = nil, during video: Rational? = nil,
        scratch: String, progress: () -> Void
    ) throws(ReelFailure) {
        let index = source.index
        let track = index.audio[number]
        let gather = SoundGather(timeBase: track.timeBase, format: format, scratch: scratch)
        try gather.decode(track, of: source.locator, progress: progress)
        // A hole may be as long as the video, or ten minutes. Damaged timestamps may make a video last for years.
        let longestHole = min(max(video ?? index.length(besideAudio: track), Rational(600)), Rational(86_400))
        guard let spill = gather.spill, let format = gather.format?.packed,
            let timeline = AudioTimeline(blocks: gather.blocks, sampleRate: format.rate, longestHole: longestHole)
        else { throw ReelFailure(.sourceChanged(path: source.locator.name, change: .sound, number: track.index)) }
        try spill.flush()
        (self.spill, self.format, self.timeline) = (spill, format, timeline)
        (self.number, zero) = (number, index.startTime)
        let closed = timeline.closedHoles
        diagnostics =
            gather.diagnostics(track: number, zero: zero)
            + (closed > 0 ? [.holesClosed(track: number, holes: closed)] : [])
    }

    /// Decodes these places of a steady track, counted on the timeline of all of it; nothing if nil. What does not decode
    /// there is silent.
    init(
        part places: Range<Int64>?, of source: IndexedSource, track number: Int, scratch: String, progress: () -> Void
    ) throws(ReelFailure) {
        let track = source.index.audio[number]
        (self.number, format, zero) = (number, try track.format().packed, source.index.startTime)
        guard let sound = track.steady else { throw ReelFailure(.planLacks(part: .audioTrack, number: number)) }
        guard let places else {
            spill = try SampleSpill(folder: scratch, format)
            (timeline, diagnostics) = (AudioTimeline(sound, of: track, decoded: []), [])
            return
        }
        let changed = ReelFailure(.sourceChanged(path: source.locator.name, change: .sound, number: track.index))
        var found: (spill: SampleSpill, gather: SoundGather)?
        // The decoder may need more than its codec asks for, or the container may not lead to the place that was asked for.
        for packets in [track.packetsBeforeSound ?? .max, 1000, .max] where found?.gather.startsInTime != true {
            let spill = try SampleSpill(folder: scratch, format)
            let window = SoundWindow(track: track, sound: sound, places: places, packetsBefore: packets)
            let gather = SoundGather(window, into: spill, format: format)
            try gather.decode(track, of: source.locator, progress: progress)
            found = (spill, gather)
        }
        guard let found else { throw changed }
        found.gather.loseUnlessDecoded()
        try found.spill.flush()
        spill = found.spill
        timeline = AudioTimeline(sound, of: track, decoded: found.gather.runs)
        diagnostics = found.gather.diagnostics(track: number, zero: zero)
    }

    /// The diagnostic of holes that stay silent; empty if there are none.
    var holes: [Diagnostic] {
        let holes = timeline.holes
        guard let first = holes.first else { return [] }
        return [.holesSilent(track: number, holes: holes.count, from: first.start - zero, to: first.end - zero)]
    }

    /// What a piece lets be heard of this sound during samples of the output, before it is stretched.
    func cursor(_ piece: SoundEdit.Piece, _ samples: Range<Int64>) -> SpanCursor {
        let spans = timeline.spans(in: piece.places(samples, on: timeline), piece.direction)
        return SpanCursor(spans, piece.direction, of: spill)
    }
}

extension AudioTrack {
    /// The track as recon found it, with the samples at its end as they are really heard, which containers state
    /// incompletely. Without steady sound if it is short, or if its end does not decode as its packets promise.
    func settled(in source: Locator) throws(ReelFailure) -> AudioTrack {
        var track = self
        track.steady = nil
        guard var sound = steady, sound.count >= Int64(JoinableSound.shortestTrack * sampleRate),
            let packets = packetsBeforeSound
        else { return track }
        let second = Int64(sampleRate)
        let places = sound.count - second..<sound.count + second
        let window = SoundWindow(track: self, sound: sound, places: places, packetsBefore: packets)
        let gather = SoundGather(window, into: nil, format: try format().packed)
        try gather.decode(self, of: source, progress: {})
        guard gather.runs.count == 1, gather.startsInTime, gather.isWhole, let end = gather.runs.first?.upperBound
        else { return track }
        sound.count = end
        track.steady = sound
        return track
    }
}

extension SourceIndex {
    /// How long the video is, in seconds. A source that is only heard has none: its sound alone says how long it lasts.
    fileprivate func length(besideAudio track: AudioTrack) -> Rational {
        guard let first = video.frames.first else { return track.timeBase.seconds(track.span.duration) }
        let clock = video.stream.timeBase
        return clock.seconds(video.end) - clock.seconds(first.interval.start)
    }
}
