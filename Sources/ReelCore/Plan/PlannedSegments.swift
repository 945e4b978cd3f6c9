/// The contents that a plan's segments must have. Both the code that writes segments and the code that looks for them
/// use it, so they agree.
package struct PlannedSegments: Sendable {
    private let plan: Plan
    private let indexes: [SourceIndex]
    private let digest: @Sendable ([UInt8]) -> String
    /// For each source, the hash of how its video is encoded: the same target encodes sources of different pixel shapes
    /// or colours differently.
    private let videoTargets: [String]

    /// `indexes` are the ones that the plan was made from; `digest` gives SHA-256 in hexadecimal.
    package init(plan: Plan, indexes: [SourceIndex], digest: @escaping @Sendable ([UInt8]) -> String) {
        self.plan = plan
        // Workers keep this value for long. It needs only the frames' times, so drop the tables that take most of the
        // memory.
        self.indexes = indexes.map { index in
            var index = index
            (index.video.packets, index.video.randomAccessPoints, index.subtitles) = ([], [], [])
            return index
        }
        self.digest = digest
        let main = indexes[plan.mainSource].video.stream.shown(in: plan.video)
        videoTargets = indexes.map {
            digest(CanonicalJSON.bytes(ofSafe: VideoEncodingFacts(plan.video, of: $0.video.stream, output: main)))
        }
    }

    /// The segments of a pass: one per chunk, in chunk order, or one of sound. Empty for a track that the
    /// plan does not have.
    package func contents(of pass: Pass) -> [SegmentContent] {
        switch pass {
        case .video(let pass):
            pass.clips.flatMap { clip in plan.chunks(of: pass, in: clip).map { content(ofChunk: $0, of: clip) } }
        case .audio(let place, let samples):
            plan.audio.indices.contains(place) ? [content(ofAudio: place, samples)].compactMap(\.self) : []
        }
    }

    /// The segment of a chunk of a clip; `clip` is its index in `Plan.clips`. The index of the source must contain the
    /// frames.
    package func content(ofChunk frames: Range<Int>, of clip: Int) -> SegmentContent {
        let source = plan.clips[clip].source
        let pictures = indexes[source].video.pictures
        return SegmentContent(
            source: source, part: .video(frames: frames), times: digest(times(ofChunk: frames, of: plan.clips[clip])),
            target: videoTargets[source],
            likeness: pictures.isEmpty
                ? nil : likeness(of: plan.clips[clip].shown(in: frames).lazy.map { pictures[$0].likeness }))
    }

    /// The hash of the likenesses of a chunk's frames, in the source's order.
    package func likeness(of frames: some Sequence<Likeness>) -> String {
        digest(frames.flatMap { likeness in likeness.cells.indices.map { likeness.cells[$0] } })
    }

    /// The segment of these samples of an audio track, or of all; `place` is its index in `Plan.audio`. Nil if the source's
    /// index has no such track.
    package func content(ofAudio place: Int, _ samples: Range<Int>? = nil) -> SegmentContent? {
        let target = plan.audio[place]
        let (clip, index) = (plan.clips[0], indexes[target.source])
        guard index.audio.indices.contains(target.track) else { return nil }
        let track = index.audio[target.track]
        let hidesPreroll = target.isPassthrough ? plan.container.hidesPreroll(of: track) : nil
        let encoding = AudioEncodingFacts(target: target, hidesPreroll: hidesPreroll)
        let edit = plan.isEdit ? SoundEdit(plan, indexes) : nil
        // In an edit, the output's track has the tracks of all sources that have the same place.
        let streams =
            edit == nil
            ? [track.index]
            : indexes.map { $0.audio.indices.contains(target.track) ? $0.audio[target.track].index : nil }
        let frames = indexes[clip.source].video.frames[clip.frames]
        let clock = clip.map.source
        let times = AudioTimes(
            streams: streams, direction: target.direction, isPassthrough: target.isPassthrough, from: clip.audioFrom,
            to: clip.audioTo, start: clock.seconds(clip.map.start), end: clock.seconds(clip.map.end),
            lastFrame: clock.seconds(frames.last?.interval.duration ?? .zero), edit: edit)
        return SegmentContent(
            source: target.source, part: .audio(track: target.track, samples: samples),
            times: digest(CanonicalJSON.bytes(ofSafe: times)),
            target: digest(CanonicalJSON.bytes(ofSafe: encoding)))
    }

    /// The direction, whether it is black, both time bases, the speed and, for each frame that is shown, its start on
    /// the source's clock (which identifies it), and its start and duration in the segment.
    private func times(ofChunk frames: Range<Int>, of clip: Clip) -> [UInt8] {
        let track = indexes[clip.source].video
        var writer = IndexEncoder()
        writer.reserve(frames.count * 8)
        writer.signed((clip.direction == .forwards ? 0 : 1) + (clip.isBlack ? 2 : 0))
        for ratio in [clip.map.source.secondsPerTick, clip.map.output.secondsPerTick, clip.map.speed] {
            writer.signed(ratio.numerator)
            writer.signed(ratio.denominator)
        }
        for place in clip.direction.order(clip.places(showing: frames)) {
            writer.signed(track.frames[clip.frame(at: place)].interval.start.ticks)
            writer.signed(clip.start(at: place, inChunk: frames, of: track).ticks)
            writer.signed(clip.interval(at: place, in: track).duration.count)
        }
        return writer.bytes
    }
}

/// The settings of a video encoder. Threads are left out: they change bytes but no pictures, and differ from pass to
/// pass.
private struct VideoEncodingFacts: Encodable {
    let target: VideoTarget
    let source: Pictures
    /// The source whose format the output has; nil if it is the same.
    let output: Pictures?

    struct Pictures: Encodable, Equatable {
        let width: Int
        let height: Int
        let pixelFormat: String
        let sampleAspectRatio: Rational?
        let displayMatrix: [Int32]?
        let colour: ColourTags

        init(_ stream: VideoStream) {
            (width, height, pixelFormat) = (stream.width, stream.height, stream.pixelFormat)
            (sampleAspectRatio, displayMatrix) = (stream.sampleAspectRatio, stream.displayMatrix)
            colour = stream.colour
        }
    }

    init(_ target: VideoTarget, of stream: VideoStream, output: VideoStream) {
        if case .encode(var encoding) = target {
            encoding.threads = 0
            self.target = .encode(encoding)
        } else {
            self.target = target
        }
        source = Pictures(stream)
        let shown = Pictures(output)
        self.output = shown == source ? nil : shown
    }
}

/// The settings from which an audio track is made.
private struct AudioEncodingFacts: Encodable {
    let target: AudioTarget
    /// nil unless packets are passed through, since nothing else depends on it.
    let hidesPreroll: Bool?
}

/// The facts that decide which samples of a track are heard, and when; in seconds on the source's clock.
private struct AudioTimes: Encodable {
    /// The stream index of the track in each file; nil for a source that has no such track.
    let streams: [Int?]
    let direction: Direction
    let isPassthrough: Bool
    let from: Rational?
    let to: Rational?
    /// When the first frame that is shown begins, when the last one ends, and the duration of the last one.
    let start: Rational
    let end: Rational
    let lastFrame: Rational
    let edit: SoundEdit?
}
