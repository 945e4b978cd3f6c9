internal import ReelCore

/// Encodes the chunks of a pass, frame by frame in the order of the output. Each chunk becomes a segment.
final class ChunkSequence {
    /// The chunks to encode, in presentation order.
    private let chunks: [(frames: Range<Int>, place: SegmentPlace)]
    private let clip: Int
    private let plan: Plan
    private let track: VideoTrack
    /// That of the source whose format the output has.
    private let stream: VideoStream
    private let settings: VideoEncoding
    private let planned: PlannedSegments
    private let converter: PictureConverter
    /// Diagnostics of frames, for the record of their segment.
    private let diagnostics: (_ frames: Range<Int>) -> [Diagnostic]
    /// The chunk being encoded.
    private var encoding: ChunkEncoder?

    private(set) var segments: [SegmentRecord] = []
    private(set) var framesEncoded = 0
    private(set) var encodeSeconds = 0.0
    private(set) var waitSeconds = 0.0

    init(
        _ chunks: [(frames: Range<Int>, place: SegmentPlace)], of clip: Int, plan: Plan, track: VideoTrack,
        stream: VideoStream,
        encoding settings: VideoEncoding, planned: PlannedSegments, converter: PictureConverter,
        diagnostics: @escaping (_ frames: Range<Int>) -> [Diagnostic]
    ) {
        self.chunks = chunks
        self.clip = clip
        self.plan = plan
        self.track = track
        self.stream = stream
        self.settings = settings
        self.planned = planned
        self.converter = converter
        self.diagnostics = diagnostics
    }

    /// Whether a chunk to encode has any of these frames.
    func needs(_ frames: Range<Int>) -> Bool { chunks.contains { $0.frames.overlaps(frames) } }

    /// Encodes the next frame in the order of the output. A frame of a chunk that is whole already is dropped. Returns
    /// whether the frame was encoded.
    func encode(_ frame: Int, _ picture: borrowing Frame) throws(ReelFailure) -> Bool {
        guard let encoding = try encoder(for: frame) else { return false }
        encoding.look(at: picture)
        let start = plan.clips[clip].start(of: frame, inChunk: encoding.frames, of: track)
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
        let made = try ChunkEncoder(
            chunk.frames, of: clip, in: plan, track: track, stream: stream, as: settings, making: planned,
            at: chunk.place)
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
