internal import CFFmpeg
package import ReelCore

/// Reverses the passes of one job. Each is decoded once; `FrameWindowReader` hands out its frames in the order of the
/// output, and `ChunkSequence` encodes them.
package final class PassReverser {
    private let sources: [IndexedSource]
    private let plan: Plan
    private let planned: PlannedSegments
    /// The tools of the last pass: a job may have thousands of clips.
    private var open: (forms: [ClipForm], tools: Tools)?
    private var mostHeld = 0

    /// The facts of a clip by which its pictures are decoded and converted. Clips for which they are equal share their
    /// tools.
    private struct ClipForm: Equatable {
        let source: Int
        let direction: Direction
        let isBlack: Bool
        /// Which frames are shown: one in this many, counted from one that leaves this remainder.
        let step: Int
        let remainder: Int

        init(_ clip: Clip) {
            (source, direction, isBlack) = (clip.source, clip.direction, clip.isBlack)
            (step, remainder) = (clip.step, clip.firstFrame % clip.step)
        }

        func shown(in part: Range<Int>) -> ShownFrames { ShownFrames(of: part, from: remainder, step: step) }
    }

    private typealias Tools = (converters: [PictureConverter], reader: FrameWindowReader)

    /// `sources` are the plan's, in their order. One stays open from pass to pass.
    package init(sources: [IndexedSource], plan: Plan) throws(ReelFailure) {
        (self.sources, self.plan) = (sources, plan)
        planned = PlannedSegments(plan: plan, indexes: sources.map(\.index))
        if plan.onDamage == .fail {
            for clip in plan.clips { try refuseDamage(clip) }
        }
    }

    /// Throws if recon found frames that do not decode correctly.
    private func refuseDamage(_ clip: Clip) throws(ReelFailure) {
        let source = sources[clip.source]
        for case .packetsUndecoded(_, let first, _) in source.index.diagnostics {
            throw ReelFailure(.videoDamaged(path: source.locator.name, damage: .missing, time: first ?? Rational(0)))
        }
        let track = source.index.video
        guard let frame = clip.frames.first(where: { track.picture(of: $0)?.isDamaged == true }) else { return }
        let time = track.stream.timeBase.seconds(track.frames[frame].interval.start) - source.index.startTime
        throw ReelFailure(.videoDamaged(path: source.locator.name, damage: .concealed, time: time))
    }

    /// Makes a segment of every chunk of the pass that has a place: `places` has one for each of the pass's subjects,
    /// in their order, and nil for chunks that are whole already. Calls `progress` with the numbers of frames decoded
    /// and encoded.
    package func reverse(
        _ pass: VideoPass, at places: [SegmentPlace?], progress: (_ decoded: Int, _ encoded: Int) -> Void
    ) throws(ReelFailure) -> PassResult {
        guard var encoding = plan.video.encoding else {
            throw ReelFailure(.planLacks(part: .videoPass, number: plan.passes.count))
        }
        let index = sources[plan.clips[pass.clips[0]].source].index
        let tools = try opened(pass.clips, threads: encoding.threads)
        let reader = tools.reader
        encoding.threads = pass.threads
        reader.reset()
        var wanted = places[...]
        var sequences: [Direction: ChunkSequence] = [:]
        for (clip, converter) in zip(pass.clips, tools.converters) {
            let chunks = plan.chunks(of: pass, in: clip)
            let asked = zip(chunks, wanted).compactMap { frames, place in place.map { (frames: frames, place: $0) } }
            wanted = wanted.dropFirst(chunks.count)
            let making = ClipEncoding(
                clip: plan.clips[clip], number: clip, track: index.video, stream: main, settings: encoding,
                planned: planned)
            sequences[making.clip.direction] = ChunkSequence(asked, making: making, converter: converter) { frames in
                self.concealed(reader.concealed.filter(frames.contains), in: index) + self.resizing(reader)
            }
        }
        let all = Array(sequences.values)
        func isWanted(_ frames: Range<Int>) -> Bool { all.contains { $0.needs(frames) } }
        // A chunk that became too large or too small is made again: what was counted does not go back, nor beyond its end.
        var (mostDecoded, mostEncoded) = (Int.max, 0)
        func advance() {
            mostEncoded = max(mostEncoded, all.reduce(0) { $0 + $1.framesEncoded })
            progress(min(reader.tally.framesDecoded, mostDecoded), mostEncoded)
        }
        func decoded(_ frames: Int) { advance() }
        func encode(_ frame: Int, _ picture: borrowing Frame, _ direction: Direction) throws(ReelFailure) {
            if try sequences[direction]?.encode(frame, picture) == true { advance() }
        }
        repeat {
            for sequence in all { sequence.begin() }
            if let windows = reader.windows(of: pass) {
                for window in windows where isWanted(window) {
                    try reader.read([window], progress: decoded, take: encode)
                }
            } else {
                try reader.read(pass.chunks.filter(isWanted), progress: decoded, take: encode)
            }
            mostDecoded = min(mostDecoded, reader.tally.framesDecoded)
        } while all.contains { $0.hasRejected }
        let losses = tools.converters.flatMap(\.losses).reduce(into: [Diagnostic]()) { losses, loss in
            if !losses.contains(loss), !plan.diagnostics.contains(loss) { losses.append(loss) }
        }
        return PassResult(
            segments: all.flatMap(\.segments).sorted { $0.name.subject < $1.name.subject },
            statistics: PassStatistics(reader.tally, all),
            diagnostics: concealed(reader.concealed, in: index) + losses + resizing(reader))
    }

    /// The most decoded frames that waited for the encoder at a time, in all passes so far.
    package var mostFramesHeld: Int { max(mostHeld, open?.tools.reader.mostFramesHeld ?? 0) }

    /// The stream of the source whose format the output has.
    private var main: VideoStream { sources[plan.mainSource].index.video.stream.shown(in: plan.video) }

    private func opened(_ clips: [Int], threads: Int) throws(ReelFailure) -> Tools {
        let forms = clips.map { ClipForm(plan.clips[$0]) }
        if let open, open.forms == forms { return open.tools }
        mostHeld = mostFramesHeld
        open = nil
        let source = sources[plan.clips[clips[0]].source]
        Media.keepInHeaps(pictures: source.index.video.stream.frameBytes)
        let converters = try clips.map { (clip) throws(ReelFailure) in
            try PictureConverter(
                format: plan.video.format, stream: source.index.video.stream, main: main, clip: plan.clips[clip])
        }
        // Backwards last, since a frame is then dropped as soon as it is encoded.
        let directions = Direction.allCases.filter { clips.map { plan.clips[$0].direction }.contains($0) }
        let reader = try FrameWindowReader(
            source, directions, shown: forms[0].shown, converter: converters[0], threads: threads)
        open = (forms, (converters, reader))
        return (converters, reader)
    }

    private func concealed(_ frames: [Int], in index: SourceIndex) -> [Diagnostic] {
        frames.isEmpty
            ? [] : [.framesConcealed(frames: Moments(of: frames, in: index.video, startTime: index.startTime))]
    }

    private func resizing(_ reader: FrameWindowReader) -> [Diagnostic] {
        let format = plan.video.format
        return reader.tally.resized ? [.framesScaled(width: format.width, height: format.height)] : []
    }
}

extension PassStatistics {
    fileprivate init(_ decoded: FrameWindowReader.Tally, _ encodings: [ChunkSequence]) {
        self.init()
        framesDecoded = decoded.framesDecoded
        decodeSeconds = decoded.decodeSeconds
        waitSeconds = decoded.waitSeconds
        for encoding in encodings {
            framesEncoded += encoding.framesEncoded
            encodeSeconds += encoding.encodeSeconds
            waitSeconds += encoding.waitSeconds
        }
        peakRSS = peakResidentBytes()
    }
}

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
    /// For chunks whose bits are limited: how far the search for their rate is.
    private var searches: [Range<Int>: RateSearch] = [:]
    private var whole: Set<Range<Int>> = []
    /// Whether a chunk has too many or too few bits since the last `begin`: its frames are needed again.
    private(set) var hasRejected = false

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

    func begin() { hasRejected = false }

    func needs(_ frames: Range<Int>) -> Bool {
        chunks.contains { $0.frames.overlaps(frames) && !whole.contains($0.frames) }
    }

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
        guard let chunk = chunks.first(where: { $0.frames.contains(frame) }), !whole.contains(chunk.frames) else {
            return nil
        }
        let search =
            searches[chunk.frames] ?? making.settings.search(of: chunk.frames, of: making.clip, in: making.track)
        searches[chunk.frames] = search
        encoding = try ChunkEncoder(chunk.frames, making: making, at: chunk.place, rate: search.map { Int64($0.rate) })
        return encoding
    }

    private func finish(_ chunk: ChunkEncoder) throws(ReelFailure) {
        try measured(&encodeSeconds, chunk.drain)
        encoding = nil
        switch searches[chunk.frames]?.judge(8 * Double(chunk.payload)) {
        case .again:
            framesEncoded -= chunk.frameCount
            hasRejected = true
            return
        case .hopeless: throw ReelFailure(.chunkTooLarge(encoder: making.settings.encoder))
        case .fits, nil: whole.insert(chunk.frames)
        }
        let segment = try measured(&waitSeconds) { () throws(ReelFailure) in try chunk.finish(diagnostics(chunk.frames))
        }
        segments.append(segment)
    }
}

/// Encodes one chunk into a segment. The caller passes its frames one by one, in the order of the output.
final class ChunkEncoder {
    let frames: Range<Int>
    private let content: SegmentContent
    private let making: ClipEncoding
    /// The number of frames that are shown.
    let frameCount: Int
    private var framesAdded = 0
    /// The likeness of each frame so far, unless the plan has them.
    private var likenesses: [Likeness] = []
    private let encoder: Encoder
    private let hasTransparency: Bool
    private let writer: SegmentWriter
    private let packet: Packet

    /// - Parameter rate: bits per second; nil for those of the plan.
    init(_ frames: Range<Int>, making: ClipEncoding, at place: SegmentPlace, rate: Int64?) throws(ReelFailure) {
        (self.frames, self.making) = (frames, making)
        frameCount = making.clip.shown(in: frames).count
        content = making.planned.content(ofChunk: frames, of: making.number)
        let video = making.settings
        encoder =
            if let rate {
                try Encoder(video, stream: making.stream, bitrate: rate)
            } else {
                try Encoder(video, stream: making.stream, track: making.track, clip: making.clip, frames: frames)
            }
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
        }
    }

    private var miscounted: ReelFailure {
        ReelFailure(.encoderMiscounts(encoder: encoder.name, packets: writer.packetCount, frames: frameCount))
    }
}
