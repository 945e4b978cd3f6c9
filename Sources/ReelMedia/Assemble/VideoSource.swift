internal import CFFmpeg
internal import ReelCore

/// The video's segments in the order of the output, as one stream with one sequence of decode times.
final class VideoSource: PacketSource {
    let timeBase: TimeBase
    private let plan: Plan
    private let tracks: [VideoTrack]
    private let parameters: UnsafePointer<AVCodecParameters>
    private let shift: Ticks
    private let segments: SegmentList
    /// Chunks whose segments are still to be opened, in the order of the output: the frames of the source that each
    /// shows, and the places in the plan of its pass and its clip.
    private var pending: ArraySlice<(pass: Int, clip: Int, frames: Range<Int>)> = []
    private let planned: PlannedSegments
    private var reader: SegmentReader?
    /// The frames of the open segment: the place of each in the output, by its presentation time in the segment.
    private var shown: [Timestamp: Interval] = [:]
    private let depth: Int
    private var written = 0

    /// - Parameters:
    ///   - depth: packets by which a frame may come later in decode order than in presentation order.
    ///   - shift: the time by which the whole output starts later.
    init(
        segments: SegmentList, plan: Plan, indexes: [SourceIndex],
        parameters: UnsafePointer<AVCodecParameters>, depth: Int, shift: Ticks
    ) {
        self.segments = segments
        self.plan = plan
        tracks = indexes.map(\.video)
        planned = PlannedSegments(plan: plan, indexes: indexes)
        self.parameters = parameters
        self.shift = shift
        timeBase = plan.video.format.timeBase
        self.depth = depth
        for (number, pass) in plan.passes.enumerated() {
            guard case .video(let pass) = pass else { continue }
            pending += plan.clips[pass.clip].direction.order(pass.chunks).map { (number, pass.clip, $0) }
        }
    }

    var matroskaDelay: Ticks { .zero }

    private var frameCount: Int { plan.frameCount }

    /// Decode times are the presentation times of all frames in order, moved back by the reorder depth. They increase
    /// across joins, and none is later than its packet's own presentation time.
    var upcoming: Timestamp? {
        guard written < frameCount else { return nil }
        let place = written - depth
        return place >= 0 ? start(ofOutput: place) : start(ofOutput: 0) - Ticks(Int64(-place) * firstDuration.count)
    }

    /// The distance between decode times before the first frame: as long as that frame lasts, within reason.
    private var firstDuration: Ticks {
        min(interval(ofOutput: 0).duration, Ticks(1 << 32))
    }

    private func start(ofOutput place: Int) -> Timestamp {
        interval(ofOutput: place).start + shift
    }

    private func interval(ofOutput place: Int) -> Interval {
        guard let (number, frame) = plan.frame(at: place) else { return Interval(start: Timestamp(0), duration: .zero) }
        let clip = plan.clips[number]
        return clip.interval(of: frame, in: tracks[clip.source])
    }

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
        packet.pts = pts
        packet.dts = dts
        packet.duration = interval.duration
        guard dts <= pts else { throw broken(.reordering) }
        written += 1
    }

    /// Reads the end of the last segment. Throws if it has more packets than planned frames.
    func finish() throws(ReelFailure) {
        guard let reader else { return }
        if try reader.read(into: try Packet()) { throw broken(.unplannedFrame) }
    }

    private func openNext() throws(ReelFailure) {
        guard let next = pending.popFirst() else { throw ReelFailure(.partsEnded(parts: .segments)) }
        let content = planned.content(ofChunk: next.frames, of: next.clip)
        reader = try SegmentReader(
            segments.segment(of: content, clip: next.clip, pass: next.pass), pass: next.pass, parameters: parameters)
        let clip = plan.clips[next.clip]
        let track = tracks[clip.source]
        let frames = next.frames.map { frame in
            (clip.start(of: frame, inChunk: next.frames, of: track), clip.interval(of: frame, in: track))
        }
        shown = Dictionary(frames, uniquingKeysWith: { first, _ in first })
    }

    func judged(_ failure: ReelFailure) -> ReelFailure { reader?.judged(failure) ?? failure }

    private func broken(_ flaw: SegmentFlaw) -> ReelFailure {
        judged(ReelFailure(.segmentFlawed(segment: reader?.record.name.text ?? "", pass: reader?.pass, flaw: flaw)))
    }
}
