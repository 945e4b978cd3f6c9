internal import CFFmpeg
internal import ReelCore

struct ClipEncoding {
    let clip: Clip
    /// The clip's place in the plan.
    let number: Int
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
    /// For chunks whose bits are limited: how far the search for their rate or quality is.
    private var searches: [Range<Int>: ChunkSearch] = [:]
    private var whole: Set<Range<Int>> = []
    /// The chunks that had too many or too few bits since the last `begin`: their frames are needed again.
    private var rejected: Set<Range<Int>> = []
    var hasRejected: Bool { !rejected.isEmpty }

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

    func begin() { rejected = [] }

    func needs(_ frames: Range<Int>) -> Bool {
        chunks.contains { $0.frames.overlaps(frames) && !whole.contains($0.frames) }
    }

    /// Encodes the next frame in the order of the output, as often as it is shown. A frame of a chunk that is whole already
    /// is dropped. Returns whether the frame was encoded.
    func encode(_ frame: Int, _ picture: borrowing Frame) throws(ReelFailure) -> Bool {
        let places = making.clip.places(showing: frame..<frame + 1)
        guard !places.isEmpty, let encoding = try encoder(for: frame) else { return false }
        encoding.look(at: picture)
        for place in places {
            let start = making.clip.start(at: place, inChunk: encoding.frames, of: making.track)
            try measured(&encodeSeconds) { () throws(ReelFailure) in
                try converter.withPicture(picture, at: start) { (converted) throws(ReelFailure) in
                    try encoding.add(converted)
                }
            }
            framesEncoded += 1
        }
        if encoding.hasAllFrames {
            try finish(encoding)
        } else if let bits = encoding.foreseenBits, searches[encoding.frames]?.abandons(at: bits) == true {
            reject(encoding)
        }
        return true
    }

    /// The encoder of the chunk to which the frame belongs. A new one is opened for the chunk's first frame in the
    /// output. Nil if the chunk is whole already, or was rejected since the last `begin`.
    private func encoder(for frame: Int) throws(ReelFailure) -> ChunkEncoder? {
        if let encoding { return encoding }
        guard let chunk = chunks.first(where: { $0.frames.contains(frame) }), !whole.contains(chunk.frames),
            !rejected.contains(chunk.frames)
        else { return nil }
        let search =
            searches[chunk.frames] ?? making.settings.search(of: chunk.frames, of: making.clip, in: making.track)
        searches[chunk.frames] = search
        encoding = try ChunkEncoder(chunk.frames, making: making, at: chunk.place, search)
        return encoding
    }

    private func finish(_ chunk: ChunkEncoder) throws(ReelFailure) {
        try measured(&encodeSeconds, chunk.drain)
        switch searches[chunk.frames]?.judge(8 * Double(chunk.payload)) {
        case .again: return reject(chunk)
        case .hopeless: throw ReelFailure(.chunkTooLarge(encoder: making.settings.encoder))
        case .fits, nil: whole.insert(chunk.frames)
        }
        encoding = nil
        let segment = try measured(&waitSeconds) { () throws(ReelFailure) in try chunk.finish(diagnostics(chunk.frames))
        }
        segments.append(segment)
    }

    private func reject(_ chunk: ChunkEncoder) {
        framesEncoded -= chunk.framesAdded
        rejected.insert(chunk.frames)
        encoding = nil
    }
}

/// Encodes one chunk into a segment. The caller passes its frames one by one, in the order of the output.
final class ChunkEncoder {
    let frames: Range<Int>
    private let content: SegmentContent
    private let making: ClipEncoding
    /// The number of frames that are shown.
    let frameCount: Int
    private(set) var framesAdded = 0
    /// The likeness of each frame so far, unless the plan has them.
    private var likenesses: [Likeness] = []
    private let encoder: Encoder
    private let hasTransparency: Bool
    private let writer: SegmentWriter
    private let packet: Packet

    /// - Parameter search: has the rate or the quality; nil for those of the plan.
    init(
        _ frames: Range<Int>, making: ClipEncoding, at place: SegmentPlace, _ search: ChunkSearch?
    ) throws(ReelFailure) {
        (self.frames, self.making) = (frames, making)
        frameCount = making.clip.places(showing: frames).count
        content = making.planned.content(ofChunk: frames, of: making.number)
        var video = making.settings
        let rate: Int64?
        switch search {
        case .rate(let search): rate = Int64(search.rate)
        case .quality(let search): (rate, video.quality) = (nil, search.quality)
        case nil: rate = video.rate(of: frames, in: making.track)
        }
        encoder = try Encoder(video, stream: making.stream, bitrate: rate)
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

    /// Bytes of the packets so far.
    private(set) var payload: Int64 = 0
    /// Of the key frame, which is the first packet, and of the first packets together.
    private var (ofKey, ofFirst): (Int64?, Int64?)
    private static let firstPackets = 20

    /// The bits that the whole chunk will have if its other frames are like the first ones; nil until there are as many
    /// packets as tell, and for a chunk that has hardly more.
    var foreseenBits: Double? {
        guard frameCount >= 3 * Self.firstPackets, let ofKey, let ofFirst else { return nil }
        let ofOthers = Double(ofFirst - ofKey) / Double(Self.firstPackets - 1)
        return 8 * (Double(ofKey) + ofOthers * Double(frameCount - 1))
    }

    func add(_ picture: borrowing Frame) throws(ReelFailure) {
        framesAdded += 1
        try encoder.send(picture)
        try writePackets()
    }

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
            payload += Int64(packet.size + (transparency?.count ?? 0))
            try writer.write(packet, beside: transparency)
            if writer.packetCount == 1 { ofKey = payload }
            if writer.packetCount == Self.firstPackets { ofFirst = payload }
        }
    }

    private var miscounted: ReelFailure {
        ReelFailure(.encoderMiscounts(encoder: encoder.name, packets: writer.packetCount, frames: frameCount))
    }
}
