internal import BasicContainers
internal import CFFmpeg
public import ReelCore

/// Reverses passes of one job: decodes each once, and encodes it backwards, chunk after chunk.
public final class PassReverser {
    private let plan: Plan
    private let track: VideoTrack
    private let startTime: Rational
    private let reader: VideoReader
    private let converter: PictureConverter
    private let starts: StartTable
    private let planned: PlannedSegments
    private let places: FramePlaces

    /// Opens the source, which stays open from pass to pass.
    public init(source: String, index: SourceIndex, plan: Plan) throws(ReelFailure) {
        self.plan = plan
        track = index.video
        startTime = index.startTime
        reader = try VideoReader(path: source, track: track)
        converter = try PictureConverter(target: plan.video, stream: track.stream)
        starts = try StartTable(track)
        planned = PlannedSegments(plan: plan, index: index)
        places = FramePlaces(track)
        if plan.onDamage == .fail { try refuseDamage(index) }
    }

    /// Throws where recon saw that not all decodes as it should.
    private func refuseDamage(_ index: SourceIndex) throws(ReelFailure) {
        for case .packetsUndecoded(_, let first, _) in index.diagnostics {
            throw ReelFailure(.videoDamaged(path: reader.path, damage: .missing, time: first ?? Rational(0)))
        }
        guard let frame = plan.timeline.frames.first(where: { track.picture(of: $0)?.isDamaged == true }) else {
            return
        }
        throw ReelFailure(.videoDamaged(path: reader.path, damage: .concealed, time: time(of: frame)))
    }

    /// When a frame is shown, in seconds from the file's start.
    private func time(of frame: Int) -> Rational {
        track.stream.timeBase.seconds(track.frames[frame].interval.start) - startTime
    }

    /// Where segments go and what their names carry.
    public struct Destination {
        public var folder: String
        public var token: String
        /// Chunks that are whole already.
        public var finishedChunks: Set<Int>

        public init(folder: String, token: String, finishedChunks: Set<Int>) {
            self.folder = folder
            self.token = token
            self.finishedChunks = finishedChunks
        }
    }

    /// Makes a segment of every chunk of the pass that is not finished. `progress` hears frames decoded and encoded.
    public func reverse(
        _ pass: VideoPass, into destination: Destination, progress: (_ decoded: Int, _ encoded: Int) -> Void
    ) throws(ReelFailure) -> PassResult {
        let chunks = pass.chunks.enumerated().map { (number: $0.offset, frames: $0.element) }
            .filter { !destination.finishedChunks.contains($0.number) }
        var target = plan.video
        target.threads = pass.threads
        var work = Work(target: target, chunks: chunks)
        if let windowFrames = pass.windowFrames {
            for window in starts.windows(of: pass.frames, least: windowFrames)
            where chunks.contains(where: { $0.frames.overlaps(window) }) {
                try decode([window], destination, &work, progress)
            }
        } else if !chunks.isEmpty {
            try decode(chunks.map(\.frames), destination, &work, progress)
        }
        work.statistics.peakRSS = peakResidentBytes()
        let losses = converter.losses.filter { !plan.diagnostics.contains($0) }
        let diagnostics = concealed(work.concealed) + losses + resizing(work)
        return PassResult(
            segments: work.segments.sorted { $0.name.subject < $1.name.subject }, statistics: work.statistics,
            diagnostics: diagnostics)
    }

    private func concealed(_ frames: [Int]) -> [Diagnostic] {
        frames.isEmpty ? [] : [.framesConcealed(frames: Moments(of: frames, in: track, startTime: startTime))]
    }

    private func resizing(_ work: borrowing Work) -> [Diagnostic] {
        work.resized ? [.framesScaled(width: plan.video.width, height: plan.video.height)] : []
    }

    /// What a pass gathers while it works.
    private struct Work {
        let target: VideoTarget
        /// Those to be made, in presentation order.
        let chunks: [(number: Int, frames: Range<Int>)]
        /// Frames that the decoder called damaged.
        var concealed: [Int] = []
        var statistics = PassStatistics()
        /// The chunk that is being encoded.
        var encoding: ChunkEncoder?
        var segments: [SegmentRecord] = []
        var resized = false
    }

    /// Decodes forwards, from the RAP of the first of these parts of a pass on. As soon as one is whole it is encoded.
    ///
    /// That decoding can start at a RAP is believed until what comes out differs from what is known of the source. Then it
    /// starts further back, for the parts that are left.
    private func decode(
        _ parts: [Range<Int>], _ destination: Destination, _ work: inout Work, _ progress: (Int, Int) -> Void
    ) throws(ReelFailure) {
        var pending = parts[...]
        guard let first = pending.first else { return }
        var start = DecodingStart(nearest: starts.point(for: first.lowerBound))
        while !pending.isEmpty {
            guard let doubt = try decode(&pending, from: start, destination, &work, progress) else { continue }
            // With tables alone nothing tells whether another start would be better.
            guard isDecoded, start.goBack() else { throw refusal(of: doubt) }
            if let next = pending.first, let last = pending.last {
                work.concealed.removeAll { (next.lowerBound..<last.upperBound).contains($0) }
            }
        }
    }

    /// The same from one RAP: what is doubtful about it, where something is; nil where nothing is left.
    private func decode(
        _ pending: inout ArraySlice<Range<Int>>, from start: DecodingStart, _ destination: Destination,
        _ work: inout Work, _ progress: (Int, Int) -> Void
    ) throws(ReelFailure) -> Doubt? {
        guard let first = pending.first, let last = pending.last else { return nil }
        try reader.start(at: start.point)
        let decoder = try Decoder(
            stream: try reader.stream(), threads: decoderThreads, path: reader.path, isRepeatable: isDecoded)
        let lastPacket = lastPacket(showing: first.lowerBound..<last.upperBound)
        var feeding = Feeding()
        var doubts = try Doubts(track: track, places: places, wanted: first.lowerBound..<last.upperBound, start: start)
        let packet = try Packet()
        let frame = try Frame()
        var buffer = FrameBuffer()
        while let part = pending.first {
            switch try measured(
                &work.statistics.decodeSeconds, { () throws(ReelFailure) in try decoder.receive(into: frame) })
            {
            case .frame:
                work.statistics.framesDecoded += 1
                progress(work.statistics.framesDecoded, work.statistics.framesEncoded)
                guard let slot = doubts.place(of: frame) else {
                    if let doubt = doubts.found { return doubt }
                    continue
                }
                while let full = pending.first, slot >= full.upperBound, feeding.last >= partingPacket(behind: full) {
                    if let doubt = doubts.missing(buffer.missing(from: full)) { return doubt }
                    try encode(full, &buffer, destination, &work, progress)
                    pending.removeFirst()
                }
                if let next = pending.first, next.contains(slot) {
                    // Some decoders report errors only in the log, where recon has counted them.
                    let isDamaged = frame.isDamaged || track.picture(of: slot)?.isDamaged == true
                    if isDamaged || doubts.isUnsteady { work.concealed.append(slot) }
                    if try converter.resize(frame) { work.resized = true }
                    try buffer.insert(frame, slot: slot, copying: isDecoded)
                }
            case .again:
                guard !feeding.isOver else { continue }
                try feed(decoder, packet, through: lastPacket, &feeding, &work)
            case .end:
                if let doubt = doubts.missing(buffer.missing(from: part)) { return doubt }
                try encode(part, &buffer, destination, &work, progress)
                pending.removeFirst()
            }
        }
        return nil
    }

    /// Whether the source was decoded as a whole: pictures have to look as they did then, damaged ones too.
    private var isDecoded: Bool { !track.pictures.isEmpty }

    /// What is damaged looks otherwise with more threads.
    private var decoderThreads: Int { isDecoded ? 1 : plan.video.threads }

    /// What the decoder was given.
    private struct Feeding {
        /// The packet that it got last; beyond all of them once it was told that nothing follows.
        var last = -1
        var isOver = false
    }

    private func refusal(of doubt: Doubt) -> ReelFailure {
        let time = time(of: doubt.frame)
        return ReelFailure(
            isDecoded
                ? .decodesOtherwise(path: reader.path, disproof: doubt.disproof, time: time)
                : .planDisproved(path: reader.path, disproof: doubt.disproof, time: time))
    }

    /// The last packet to feed, in decode order: leading pictures of the next group show frames of this one.
    private func lastPacket(showing frames: Range<Int>) -> Int {
        let last = track.frames[frames].reduce(0) { max($0, Int($1.packet)) }
        return places.next(from: last + 1) - 1
    }

    /// The packet before which no frame ends a part, however late it is due: the one that best parts its packets from
    /// those of as many frames behind it. Where times are wrong, no packet parts them all.
    private func partingPacket(behind part: Range<Int>) -> Int {
        let frames = part.lowerBound..<min(part.upperBound + part.count, track.frames.count)
        var (excess, greatest, parting) = (0, 0, 0)
        for slot in frames.sorted(by: { track.frames[$0].packet < track.frames[$1].packet }) {
            excess += slot < part.upperBound ? 1 : -1
            if excess > greatest { (greatest, parting) = (excess, Int(track.frames[slot].packet)) }
        }
        return parting
    }

    /// Feeds the decoder the next packet, or tells it that nothing follows.
    private func feed(
        _ decoder: Decoder, _ packet: borrowing Packet, through last: Int, _ feeding: inout Feeding, _ work: inout Work
    ) throws(ReelFailure) {
        let number = try measured(&work.statistics.waitSeconds) { () throws(ReelFailure) in
            try reader.next(into: packet)
        }
        guard let number, number <= last else {
            try decoder.drain()
            feeding = Feeding(last: track.packets.count, isOver: true)
            return
        }
        feeding.last = number
        reel_packet_carry(packet.native, Int64(number))
        _ = try measured(&work.statistics.decodeSeconds) { () throws(ReelFailure) in try decoder.send(packet) }
    }

    /// Encodes part of a pass, all of whose frames came, from its last frame to its first; where it ends a chunk, that becomes
    /// a segment.
    private func encode(
        _ part: Range<Int>, _ buffer: inout FrameBuffer, _ destination: Destination, _ work: inout Work,
        _ progress: (Int, Int) -> Void
    ) throws(ReelFailure) {
        for slot in part.reversed() {
            let picture = try buffer.take(slot: slot)
            guard let encoding = try chunkEncoder(for: slot, destination, &work) else { continue }
            encoding.look(at: picture)
            let start = plan.timeline.start(of: slot, inChunk: encoding.chunk.frames, of: track)
            try measured(&work.statistics.encodeSeconds) { () throws(ReelFailure) in
                try converter.withPicture(picture, at: start) { (converted) throws(ReelFailure) in
                    try encoding.add(converted)
                }
            }
            work.statistics.framesEncoded += 1
            progress(work.statistics.framesDecoded, work.statistics.framesEncoded)
            if slot == encoding.chunk.frames.lowerBound { try finish(encoding, &work) }
        }
        buffer.clear()
    }

    /// The encoder of the chunk that the frame belongs to, a new one for its last frame; nil where that chunk is whole already.
    private func chunkEncoder(
        for slot: Int, _ destination: Destination, _ work: inout Work
    ) throws(ReelFailure) -> ChunkEncoder? {
        if let encoding = work.encoding { return encoding }
        guard let chunk = work.chunks.first(where: { $0.frames.contains(slot) }) else { return nil }
        let encoding = try ChunkEncoder(
            chunk, of: track, as: work.target, making: planned, into: destination)
        work.encoding = encoding
        return encoding
    }

    private func finish(_ encoding: ChunkEncoder, _ work: inout Work) throws(ReelFailure) {
        try measured(&work.statistics.encodeSeconds, encoding.drain)
        let diagnostics = concealed(work.concealed.filter(encoding.chunk.frames.contains)) + resizing(work)
        let segment = try measured(&work.statistics.waitSeconds) { () throws(ReelFailure) in
            try encoding.finish(diagnostics)
        }
        work.segments.append(segment)
        work.encoding = nil
    }
}
