internal import CFFmpeg
internal import ReelCore

/// Encodes one chunk into a segment. The caller passes its frames one by one, in the order of the output.
final class ChunkEncoder {
    /// The chunk.
    let frames: Range<Int>
    private let content: SegmentContent
    private let clip: Int
    private let planned: PlannedSegments
    private let direction: Direction
    /// The number of frames that are shown.
    private let frameCount: Int
    private var framesAdded = 0
    /// The likeness of each frame so far, unless the plan has them.
    private var likenesses: [Likeness] = []
    private let token: String
    private let timeBase: TimeBase
    private let encoder: Encoder
    private let hasTransparency: Bool
    private let writer: SegmentWriter
    private let packet: Packet

    /// - Parameters:
    ///   - track: that of the clip's source.
    ///   - stream: that of the source whose format the output has.
    init(
        _ frames: Range<Int>, of clip: Int, in plan: Plan, track: VideoTrack, stream: VideoStream,
        as video: VideoEncoding, making planned: PlannedSegments, at place: SegmentPlace
    ) throws(ReelFailure) {
        self.frames = frames
        self.clip = clip
        direction = plan.clips[clip].direction
        frameCount = plan.clips[clip].shown(in: frames).count
        self.planned = planned
        content = planned.content(ofChunk: frames, of: clip)
        token = place.name.token
        timeBase = video.format.timeBase
        encoder = try Encoder(video, stream: stream, track: track, frames: frames)
        guard encoder.extradataHash == video.identity.extradataHash else {
            throw ReelFailure(.encoderDiffers(encoder: encoder.name))
        }
        hasTransparency = video.hasTransparencyBeside
        writer = try SegmentWriter(
            at: place, timeBase: timeBase, hasTransparency: hasTransparency, describe: encoder.describe)
        packet = try Packet()
    }

    /// Records the likeness of the next picture as decoded, so that another plan can tell whether this segment shows
    /// the same.
    func look(at picture: borrowing Frame) {
        if content.likeness == nil { likenesses.append(Likeness(of: picture)) }
    }

    var hasAllFrames: Bool { framesAdded == frameCount }

    func add(_ picture: borrowing Frame) throws(ReelFailure) {
        framesAdded += 1
        try encoder.send(picture)
        try writePackets()
    }

    /// Writes the packets that the encoder has ready.
    func drain() throws(ReelFailure) {
        try encoder.finish()
        try writePackets()
    }

    /// Closes the segment; from then on it is whole. `diagnostics` report what went wrong with its frames.
    func finish(_ diagnostics: [Diagnostic]) throws(ReelFailure) -> SegmentRecord {
        guard writer.packetCount == frameCount else { throw miscounted }
        var content = content
        content.likeness = content.likeness ?? planned.likeness(of: direction.order(likenesses))
        return try writer.finish(
            SegmentRecord(
                content: content, clip: clip, token: token, frames: frameCount, packets: 0, bytes: 0,
                checksum: "", timeBase: timeBase, reorderDepth: 0, extradataHash: encoder.extradataHash,
                diagnostics: diagnostics))
    }

    private func writePackets() throws(ReelFailure) {
        while try encoder.receive(into: packet) {
            let transparency = hasTransparency ? packet.transparency : nil
            guard transparency?.isEmpty != true else { throw miscounted }
            try writer.write(packet, beside: transparency)
        }
    }

    private var miscounted: ReelFailure {
        ReelFailure(.encoderMiscounts(encoder: encoder.name, packets: writer.packetCount, frames: frameCount))
    }
}
