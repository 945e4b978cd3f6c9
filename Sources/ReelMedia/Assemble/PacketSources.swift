internal import CFFmpeg
internal import ReelCore

/// A stream of packets for the output, in decode order, each with its final times.
protocol PacketSource: AnyObject {
    var timeBase: TimeBase { get }
    /// The decode time of the packet that `take` moves out next; nil at the end.
    var upcoming: Timestamp? { get }
    /// The time by which Matroska wants a packet to be written later than its timestamp (CodecDelay, RFC 9559
    /// 5.1.4.1.25).
    var matroskaDelay: Ticks { get }
    func take(into packet: borrowing Packet) throws(ReelFailure)
    /// Throws if the packets' origin is not as it should be. Called when all packets have been taken.
    func finish() throws(ReelFailure)
    /// The reason why a packet that was taken is rejected: that its origin is not as it should be, otherwise the given
    /// reason.
    func judged(_ failure: ReelFailure) -> ReelFailure
}

extension PacketSource {
    var matroskaDelay: Ticks { .zero }

    /// For packets whose origin was checked while they were read.
    func finish() {}

    func judged(_ failure: ReelFailure) -> ReelFailure { failure }
}

struct Interleaving {
    /// The length in seconds of an interleaving interval; nil interleaves packet by packet. MP4 stores a table entry
    /// for each interval.
    let interval: Rational?

    /// The source whose packet comes next; nil if all are at their end.
    func next(of sources: [any PacketSource]) -> Int? {
        var best: (index: Int, dts: Timestamp)?
        for (index, source) in sources.enumerated() {
            guard let dts = source.upcoming else { continue }
            guard let now = best, !isEarlier(dts, source.timeBase, than: now.dts, sources[now.index].timeBase) else {
                best = (index, dts)
                continue
            }
        }
        return best?.index
    }

    private func isEarlier(_ a: Timestamp, _ aBase: TimeBase, than b: Timestamp, _ bBase: TimeBase) -> Bool {
        guard let interval else { return av_compare_ts(a.ticks, aBase.native, b.ticks, bBase.native) < 0 }
        let clock = TimeBase(secondsPerTick: interval)
        return aBase.convert(a.ticks, to: clock, rounding: .down) < bBase.convert(b.ticks, to: clock, rounding: .down)
    }
}

/// The video's segments in the order of the output, as one stream with one sequence of decode times.
final class VideoSource: PacketSource {
    let timeBase: TimeBase
    private let plan: Plan
    private let order: FrameOrder
    private let tracks: [VideoTrack]
    private let parameters: NativeParameters
    private let shift: Ticks
    private let segments: SegmentList
    /// The clips whose chunks are still to be listed in `pending`.
    private var clips: Range<Int>
    /// For each clip, the one whose passes make its segments, and for each of those its chunks in the order of the
    /// output, with the place of their pass in the plan.
    private let makers: [Int]
    private let chunks: [Int: [(pass: Int, frames: Range<Int>)]]
    /// Chunks of the clip at hand whose segments are still to be opened, in the order of the output.
    private var pending: ArraySlice<(pass: Int, frames: Range<Int>)> = []
    private var shownClip = 0
    private let planned: PlannedSegments
    private var reader: SegmentReader?
    /// The frames of the open segment: the place of each in the output, by its presentation time in the segment.
    private var shown: [Timestamp: Interval] = [:]
    private let depth: Int
    private var written = 0

    /// A frame may come `depth` packets later in decode order than in presentation order. The whole output starts later
    /// by `shift`.
    init(
        segments: SegmentList, plan: Plan, indexes: [SourceIndex], parameters: NativeParameters, depth: Int,
        shift: Ticks
    ) {
        (self.segments, self.plan, self.parameters, self.depth, self.shift) = (segments, plan, parameters, depth, shift)
        order = FrameOrder(plan)
        tracks = indexes.map(\.video)
        planned = PlannedSegments(plan: plan, indexes: indexes)
        timeBase = plan.video.format.timeBase
        clips = plan.clips.indices
        makers = plan.makers
        var chunks: [Int: [(pass: Int, frames: Range<Int>)]] = [:]
        for (number, pass) in plan.passes.enumerated() {
            guard case .video(let pass) = pass else { continue }
            for clip in pass.clips { chunks[clip, default: []] += plan.chunks(of: pass, in: clip).map { (number, $0) } }
        }
        self.chunks = chunks.reduce(into: [:]) { sorted, made in
            let inOrder = made.value.sorted { $0.frames.lowerBound < $1.frames.lowerBound }
            sorted[made.key] = plan.clips[made.key].direction.order(inOrder)
        }
    }

    /// Decode times are the presentation times of all frames in order, moved back by the reorder depth. They increase
    /// across joins, and none is later than its packet's own presentation time.
    var upcoming: Timestamp? {
        guard written < order.count else { return nil }
        let place = written - depth
        return place >= 0 ? start(ofOutput: place) : start(ofOutput: 0) - Ticks(Int64(-place) * firstDuration.count)
    }

    /// The distance between decode times before the first frame: as long as that frame lasts, within reason.
    private var firstDuration: Ticks { min(interval(ofOutput: 0).duration, Ticks(1 << 32)) }

    private func start(ofOutput place: Int) -> Timestamp { interval(ofOutput: place).start + shift }

    private func interval(ofOutput place: Int) -> Interval { order.interval(at: place, in: tracks) }

    func take(into packet: borrowing Packet) throws(ReelFailure) {
        while true {
            if let reader, try reader.read(into: packet) { break }
            guard shown.isEmpty else { throw broken(.missingFrames(count: shown.count)) }
            try openNext()
        }
        guard let place = packet.pts, let interval = shown.removeValue(forKey: place), let dts = upcoming else {
            throw broken(.unplannedFrame)
        }
        let pts = interval.start + shift
        (packet.pts, packet.dts, packet.duration) = (pts, dts, interval.duration)
        guard dts <= pts else { throw broken(.reordering) }
        written += 1
    }

    /// Reads the end of the last segment. Throws if it has more packets than planned frames.
    func finish() throws(ReelFailure) {
        guard let reader else { return }
        if try reader.read(into: try Packet()) { throw broken(.unplannedFrame) }
    }

    private func openNext() throws(ReelFailure) {
        while pending.isEmpty, let clip = clips.first {
            pending = chunks[makers[clip]]?[...] ?? []
            (shownClip, clips) = (clip, clips.dropFirst())
        }
        guard let next = pending.popFirst() else { throw ReelFailure(.partsEnded(parts: .segments)) }
        let maker = makers[shownClip]
        let content = planned.content(ofChunk: next.frames, of: maker)
        reader = try SegmentReader(
            segments.segment(of: content, clip: maker, pass: next.pass), pass: next.pass, parameters: parameters,
            hasTransparency: plan.video.encoding?.hasTransparencyBeside == true)
        let (made, clip) = (plan.clips[maker], plan.clips[shownClip])
        let track = tracks[clip.source]
        let frames = made.places(showing: next.frames).map { place in
            (made.start(at: place, inChunk: next.frames, of: track), clip.interval(at: place, in: track))
        }
        shown = Dictionary(frames, uniquingKeysWith: { first, _ in first })
    }

    func judged(_ failure: ReelFailure) -> ReelFailure { reader?.judged(failure) ?? failure }

    private func broken(_ flaw: SegmentFlaw) -> ReelFailure {
        judged(ReelFailure(.segmentFlawed(segment: reader?.record.name.text ?? "", pass: reader?.pass, flaw: flaw)))
    }
}

/// The segments of one audio track, placed on the output's clock.
final class AudioSource: PacketSource {
    let timeBase: TimeBase
    private let heard: OutputAudioTrack
    private let parameters: NativeParameters
    /// The segment that is read, and those after it.
    private var reader: SegmentReader
    private var pending: ArraySlice<OutputAudioTrack.Part>
    /// The ticks added to the times in the segments.
    private let offset: Ticks
    private let padding: StatedPadding
    private var isFirst = true
    /// libavformat writes a codec delay only for Opus.
    let matroskaDelay: Ticks
    private let ahead: Packet
    private(set) var upcoming: Timestamp?

    /// Which numbers of samples that are not heard a muxer wants beside the packets.
    enum StatedPadding {
        case none
        /// Those at the end: Matroska's DiscardPadding (RFC 9559 5.1.3.5.7). MP4 has the last packet's duration, and
        /// libavformat subtracts both.
        case atEnd
        /// Those at both ends: the tag of LAME in MP3.
        case atBothEnds
    }

    init(
        _ heard: OutputAudioTrack, parameters: NativeParameters, shift: Rational, padding: StatedPadding
    ) throws(ReelFailure) {
        let first = heard.first
        (self.heard, self.parameters, self.padding) = (heard, parameters, padding)
        let isOpus = parameters.pointee.codec_id == AV_CODEC_ID_OPUS
        matroskaDelay = isOpus ? Ticks(Int64(first.initialPadding)) : .zero
        timeBase = first.timeBase
        reader = try AudioSource.reader(of: heard.parts[0], parameters)
        pending = heard.parts.dropFirst()
        let start = first.start + timeBase.ticks(in: shift, rounding: .nearest)
        offset = Ticks(start - Int64(first.initialPadding))
        ahead = try Packet()
        try advance()
    }

    private static func reader(
        of part: OutputAudioTrack.Part, _ parameters: NativeParameters
    ) throws(ReelFailure) -> SegmentReader {
        try SegmentReader(part.segment, pass: part.pass, parameters: parameters, hasTransparency: false)
    }

    private func advance() throws(ReelFailure) {
        let before = upcoming
        upcoming = nil
        while try !reader.read(into: ahead) {
            guard let next = pending.popFirst() else { return }
            reader = try AudioSource.reader(of: next, parameters)
        }
        guard let pts = ahead.pts else {
            throw reader.judged(ReelFailure(.packetWithoutTime(segment: reader.record.name.text)))
        }
        let time = pts + offset
        // Packets of a part that is not the next one.
        if let before, time <= before {
            throw reader.judged(reader.record.flawed(.reordering, pass: reader.pass))
        }
        upcoming = time
    }

    func judged(_ failure: ReelFailure) -> ReelFailure { reader.judged(failure) }

    func take(into packet: borrowing Packet) throws(ReelFailure) {
        guard let pts = upcoming else { throw reader.record.flawed(.short, pass: reader.pass) }
        packet.take(ahead)
        try advance()
        (packet.pts, packet.dts) = (pts, pts)
        let end = Timestamp(Int64(heard.frames + heard.first.initialPadding)) + offset
        packet.duration = min(upcoming ?? end, end) - pts
        let atEnd = upcoming == nil ? reader.record.trailingPadding : 0
        switch padding {
        case .none: break
        case .atEnd: if atEnd > 0 { try packet.skip(end: atEnd) }
        case .atBothEnds:
            if isFirst || atEnd > 0 { try packet.skip(start: isFirst ? heard.first.initialPadding : 0, end: atEnd) }
        }
        isFirst = false
    }
}
