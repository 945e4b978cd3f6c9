/// What the segments of a plan are to be. Made by whoever writes segments and by whoever looks for them, so that both
/// mean the same.
public struct PlannedSegments: Sendable {
    private let plan: Plan
    private let index: SourceIndex
    private let digest: @Sendable ([UInt8]) -> String
    private let videoTarget: String

    /// - Parameters:
    ///   - index: the one that the plan was made from.
    ///   - digest: SHA-256 of bytes, in hexadecimal.
    public init(plan: Plan, index: SourceIndex, digest: @escaping @Sendable ([UInt8]) -> String) {
        self.plan = plan
        // Whoever keeps this for long needs the frames' times, and not the tables that take most of the memory.
        var index = index
        (index.video.packets, index.video.randomAccessPoints, index.texts) = ([], [], [])
        self.index = index
        self.digest = digest
        videoTarget = digest(jsonBytes(of: VideoEncoding(plan.video, of: index.video.stream)))
    }

    /// The segments of a pass, one a chunk in chunk order; none of an assembly, or of a track that the plan does not have.
    public func contents(of pass: Pass) -> [SegmentContent] {
        switch pass {
        case .video(let pass): pass.chunks.map(content(ofChunk:))
        case .audio(let place): plan.audio.indices.contains(place) ? [content(ofAudio: place)].compactMap(\.self) : []
        default: []
        }
    }

    /// The segment of the chunk of these frames, which the index must have.
    public func content(ofChunk frames: Range<Int>) -> SegmentContent {
        SegmentContent(
            subject: .video(frames: frames), times: digest(times(ofChunk: frames)), target: videoTarget,
            likeness: index.video.pictures.isEmpty
                ? nil : likeness(of: index.video.pictures[frames].lazy.map(\.likeness)))
    }

    /// The hash of how a chunk's frames look, in the source's order.
    public func likeness(of frames: some Sequence<Likeness>) -> String {
        digest(frames.flatMap { likeness in likeness.cells.indices.map { likeness.cells[$0] } })
    }

    /// The segment of a track; `place` is its place in `Plan.audio`. Nil where the index has no such track.
    public func content(ofAudio place: Int) -> SegmentContent? {
        let target = plan.audio[place]
        guard index.audio.indices.contains(target.track) else { return nil }
        let track = index.audio[target.track]
        let encoding = AudioEncodingFacts(target: target, hidesPreroll: plan.container.hidesPreroll(of: track))
        let times = AudioTimes(plan.timeline, index: index, stream: track.index, handling: target.handling)
        return SegmentContent(
            subject: .audio(track: target.track), times: digest(jsonBytes(of: times)),
            target: digest(jsonBytes(of: encoding)))
    }

    /// The time base, and of each frame the time on the source's clock, by which it is known, and when and for how long
    /// the segment shows it.
    private func times(ofChunk frames: Range<Int>) -> [UInt8] {
        let (timeline, track) = (plan.timeline, index.video)
        var writer = ByteWriter()
        writer.reserve(frames.count * 8)
        writer.signed(timeline.timeBase.secondsPerTick.numerator)
        writer.signed(timeline.timeBase.secondsPerTick.denominator)
        for frame in frames {
            writer.signed(track.frames[frame].interval.start.ticks)
            writer.signed(timeline.start(of: frame, inChunk: frames, of: track).ticks)
            writer.signed(timeline.interval(of: frame, in: track).duration.count)
        }
        return writer.bytes
    }
}

/// What an encoder of video is told. Its threads change bytes and no pictures, and differ from pass to pass.
private struct VideoEncoding: Encodable {
    let target: VideoTarget
    let pixelFormat: String
    let sampleAspectRatio: Rational?
    let colour: ColourTags
    let fieldOrder: FieldOrder
    let fieldsVary: Bool

    enum CodingKeys: String, CodingKey {
        case target = "target"
        case pixelFormat = "pixelFormat"
        case sampleAspectRatio = "sampleAspectRatio"
        case colour = "colour"
        case fieldOrder = "fieldOrder"
        case fieldsVary = "fieldsVary"
    }

    init(_ target: VideoTarget, of stream: VideoStream) {
        var target = target
        target.threads = 0
        self.target = target
        pixelFormat = stream.pixelFormat
        sampleAspectRatio = stream.sampleAspectRatio
        colour = stream.colour
        fieldOrder = stream.fieldOrder
        fieldsVary = stream.fieldsVary
    }
}

/// How a track of sound is made.
private struct AudioEncodingFacts: Encodable {
    let target: AudioTarget
    /// Only copied packets depend on it.
    let hidesPreroll: Bool?

    enum CodingKeys: String, CodingKey {
        case target = "target"
        case hidesPreroll = "hidesPreroll"
    }

    init(target: AudioTarget, hidesPreroll: Bool) {
        self.target = target
        self.hidesPreroll = target.handling == .copied ? hidesPreroll : nil
    }
}

/// What decides which samples of a track are heard, and when: seconds on the source's clock.
private struct AudioTimes: Encodable {
    /// The track's place in the file.
    let stream: Int
    let handling: AudioHandling
    let from: Rational?
    let to: Rational?
    /// When the first frame that is shown begins, when the last one ends, and how long that one lasts.
    let start: Rational
    let end: Rational
    let lastFrame: Rational

    enum CodingKeys: String, CodingKey {
        case stream = "stream"
        case handling = "handling"
        case from = "from"
        case to = "to"
        case start = "start"
        case end = "end"
        case lastFrame = "lastFrame"
    }

    init(_ timeline: Timeline, index: SourceIndex, stream: Int, handling: AudioHandling) {
        let frames = index.video.frames[timeline.frames]
        self.stream = stream
        self.handling = handling
        from = timeline.audioFrom
        to = timeline.audioTo
        start = timeline.timeBase.seconds(frames.first?.interval.start ?? timeline.end)
        end = timeline.timeBase.seconds(timeline.end)
        lastFrame = timeline.timeBase.seconds(frames.last?.interval.duration ?? .zero)
    }
}

extension Container {
    /// Whether packets that a decoder must have had before a copied track's first sound can be hidden: by an edit list,
    /// or a codec delay, which libavformat writes for Opus alone.
    public func hidesPreroll(of track: AudioTrack) -> Bool {
        self == .mp4 || self == .mov || track.codec == "opus" && (self == .mkv || self == .webm)
    }
}

private func jsonBytes(of value: some Encodable) -> [UInt8] {
    do {
        return try CanonicalJSON.bytes(of: value)
    } catch {
        // Strings, integers and lists of them: there is nothing that JSON could not hold.
        preconditionFailure("no JSON: \(error)")
    }
}
