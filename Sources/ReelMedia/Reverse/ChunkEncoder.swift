internal import CFFmpeg
internal import ReelCore

/// How the chunks of a clip are encoded.
struct ClipEncoding {
    let clip: Clip
    /// The clip's place in the plan.
    let number: Int
    /// The video of the clip's source.
    let track: VideoTrack
    /// The stream of the source whose format the output has.
    let stream: VideoStream
    let settings: VideoEncoding
    let planned: PlannedSegments
}

/// Encodes the chunks of a pass, frame by frame in the order of the output. Each chunk becomes a segment.
final class ChunkSequence {
    /// The chunks to encode, in presentation order.
    private let chunks: [(frames: Range<Int>, place: SegmentPlace)]
    private let making: ClipEncoding
    private let converter: PictureConverter
    /// Diagnostics of frames, for the record of their segment.
    private let diagnostics: (_ frames: Range<Int>) -> [Diagnostic]
    private var encoding: ChunkEncoder?

    private(set) var segments: [SegmentRecord] = []
    private(set) var framesEncoded = 0
    private(set) var encodeSeconds = 0.0
    private(set) var waitSeconds = 0.0

    init(
        _ chunks: [(frames: Range<Int>, place: SegmentPlace)], making: ClipEncoding, converter: PictureConverter,
        diagnostics: @escaping (_ frames: Range<Int>) -> [Diagnostic]
    ) {
        (self.chunks, self.making, self.converter, self.diagnostics) = (chunks, making, converter, diagnostics)
    }

    /// Whether a chunk to encode has any of these frames.
    func needs(_ frames: Range<Int>) -> Bool { chunks.contains { $0.frames.overlaps(frames) } }

    /// Encodes the next frame in the order of the output. A frame of a chunk that is whole already is dropped. Returns
    /// whether the frame was encoded.
    func encode(_ frame: Int, _ picture: borrowing Frame) throws(ReelFailure) -> Bool {
        guard let encoding = try encoder(for: frame) else { return false }
        encoding.look(at: picture)
        let start = making.clip.start(of: frame, inChunk: encoding.frames, of: making.track)
        try measured(&encodeSeconds) { () throws(ReelFailure) in
            try converter.withPicture(picture, at: start) { (converted) throws(ReelFailure) in
                try encoding.add(converted)
            }
        }
        framesEncoded += 1
        if encoding.hasAllFrames { try finish(encoding) }
        return true
    }

    /// The encoder of the chunk to which the frame belongs. A new one is opened for the chunk's first frame in the
    /// output. Nil if the chunk is whole already.
    private func encoder(for frame: Int) throws(ReelFailure) -> ChunkEncoder? {
        if let encoding { return encoding }
        guard let chunk = chunks.first(where: { $0.frames.contains(frame) }) else { return nil }
        let made = try ChunkEncoder(chunk.frames, making: making, at: chunk.place)
        encoding = made
        return made
    }

    private func finish(_ chunk: ChunkEncoder) throws(ReelFailure) {
        try measured(&encodeSeconds, chunk.drain)
        let segment = try measured(&waitSeconds) { () throws(ReelFailure) in
            try chunk.finish(diagnostics(chunk.frames))
        }
        segments.append(segment)
        encoding = nil
    }
}

/// Encodes one chunk into a segment. The caller passes its frames one by one, in the order of the output.
final class ChunkEncoder {
    let frames: Range<Int>
    private let content: SegmentContent
    private let making: ClipEncoding
    /// The number of frames that are shown.
    private let frameCount: Int
    private var framesAdded = 0
    /// The likeness of each frame so far, unless the plan has them.
    private var likenesses: [Likeness] = []
    private let encoder: Encoder
    private let hasTransparency: Bool
    private let writer: SegmentWriter
    private let packet: Packet

    init(_ frames: Range<Int>, making: ClipEncoding, at place: SegmentPlace) throws(ReelFailure) {
        self.frames = frames
        self.making = making
        frameCount = making.clip.shown(in: frames).count
        content = making.planned.content(ofChunk: frames, of: making.number)
        let video = making.settings
        encoder = try Encoder(video, stream: making.stream, track: making.track, frames: frames)
        guard encoder.extradataHash == video.identity.extradataHash else {
            throw ReelFailure(.encoderDiffers(encoder: encoder.name))
        }
        hasTransparency = video.hasTransparencyBeside
        writer = try SegmentWriter(
            at: place, timeBase: video.format.timeBase, hasTransparency: hasTransparency, describe: encoder.describe)
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
        content.likeness = content.likeness ?? making.planned.likeness(of: making.clip.direction.order(likenesses))
        return try writer.finish(
            content, frames: frameCount, extradataHash: encoder.extradataHash, diagnostics: diagnostics)
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
