internal import CFFmpeg
internal import ReelCore

/// The video's segments in reverse order, as one stream with one order of decode times.
final class VideoSource: PacketSource {
    let timeBase: TimeBase
    private let folder: String
    private let timeline: Timeline
    private let track: VideoTrack
    private let parameters: UnsafePointer<AVCodecParameters>
    private let shift: Ticks
    /// Segments still to be opened, with the frames of the source that each shows.
    private var pending: ArraySlice<(record: SegmentRecord, frames: Range<Int>)>
    private var reader: SegmentReader?
    /// The open segment's frames: when each is shown, by its presentation time.
    private var shown: [Timestamp: Ticks] = [:]
    private let depth: Int
    private var written = 0

    /// `segments` in the order of the output.
    init(
        folder: String, segments: [(record: SegmentRecord, frames: Range<Int>)], timeline: Timeline, track: VideoTrack,
        parameters: UnsafePointer<AVCodecParameters>, shift: Ticks
    ) {
        self.folder = folder
        self.timeline = timeline
        self.track = track
        self.parameters = parameters
        self.shift = shift
        timeBase = timeline.timeBase
        pending = segments[...]
        depth = segments.map(\.record.reorderDepth).max() ?? 0
    }

    var matroskaDelay: Ticks { .zero }

    private var frameCount: Int { timeline.frameCount }

    /// Decode times are the presentation times of all frames in order, moved back by the reorder depth: they increase
    /// across joins, and none is later than its packet's own presentation time.
    var upcoming: Timestamp? {
        guard written < frameCount else { return nil }
        let place = written - depth
        return place >= 0 ? start(ofOutput: place) : start(ofOutput: 0) - Ticks(Int64(-place) * firstDuration.count)
    }

    /// What decode times before the first frame are apart: as long as it lasts, within reason.
    private var firstDuration: Ticks {
        min(timeline.interval(of: timeline.frames.upperBound - 1, in: track).duration, Ticks(1 << 32))
    }

    private func start(ofOutput place: Int) -> Timestamp {
        timeline.interval(of: timeline.frames.upperBound - 1 - place, in: track).start + shift
    }

    func take(into packet: borrowing Packet) throws(ReelFailure) {
        while true {
            if let reader, try reader.read(into: packet) { break }
            try finishSegment()
            try openNext()
        }
        guard let pts = packet.pts, let duration = shown.removeValue(forKey: pts), let dts = upcoming else {
            throw broken("shows a frame at a time that is not in the plan, or twice")
        }
        packet.pts = pts + shift
        packet.dts = dts
        packet.duration = duration
        guard dts <= pts + shift else { throw broken("needs more reordering than it says") }
        written += 1
    }

    private func finishSegment() throws(ReelFailure) {
        guard let reader, !shown.isEmpty else { return }
        throw ReelFailure(.job, "segment \(reader.record.name) lacks \(shown.count) frames")
    }

    private func openNext() throws(ReelFailure) {
        guard let next = pending.popFirst() else { throw ReelFailure(.job, "the segments end before the plan does") }
        reader = try SegmentReader(folder: folder, record: next.record, parameters: parameters)
        let intervals = next.frames.map { timeline.interval(of: $0, in: track) }
        shown = Dictionary(intervals.map { ($0.start, $0.duration) }, uniquingKeysWith: { first, _ in first })
    }

    private func broken(_ how: String) -> ReelFailure {
        ReelFailure(.job, "segment \(reader?.record.name ?? "") \(how)")
    }
}
