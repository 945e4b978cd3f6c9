internal import BasicContainers
internal import CFFmpeg
internal import ReelCore

/// The sources' own packets in the order of the output, if each is a whole frame. Nothing is decoded or encoded, and
/// there are no segments.
///
/// Files are read forwards, so packets come in read blocks: each block is read into memory and handed out, from its end
/// if its clip runs backwards, while the next one is read.
final class PassthroughSource: PacketSource {
    let timeBase: TimeBase
    private let blocks: BlockReader
    private let order: FrameOrder
    private let tracks: [VideoTrack]
    private let shift: Ticks
    private var block = PacketBlock()
    private var written = 0

    /// `sources` are the plan's, in their order. The whole output starts later by `shift`.
    init(_ sources: [IndexedSource], plan: Plan, shift: Ticks) throws(ReelFailure) {
        tracks = sources.map(\.index.video)
        blocks = try BlockReader(sources, clips: plan.clips)
        order = FrameOrder(plan)
        timeBase = plan.video.format.timeBase
        self.shift = shift
    }

    /// Notices packets that were overwritten while they were copied.
    func finish() throws(ReelFailure) { try blocks.finish() }

    private var interval: Interval? {
        written < order.count ? order.interval(at: written, in: tracks) : nil
    }

    var upcoming: Timestamp? { interval.map { $0.start + shift } }

    func take(into packet: borrowing Packet) throws(ReelFailure) {
        if block.isEmpty { block = try blocks.next() }
        guard let interval, !block.isEmpty else { throw ReelFailure(.partsEnded(parts: .packets)) }
        block.take(into: packet)
        av_packet_free_side_data(packet.native)
        (packet.pts, packet.dts, packet.duration) = (interval.start + shift, interval.start + shift, interval.duration)
        packet.native.pointee.flags = AV_PKT_FLAG_KEY
        written += 1
    }
}

/// The packets of a read block, in the order of the file, and the direction in which they are handed out.
private struct PacketBlock: ~Copyable {
    var packets = UniqueArray<Packet>()
    var direction = Direction.forwards
    private var taken = 0

    var isEmpty: Bool { taken == packets.count }

    /// Moves the next packet into `packet`; there is one.
    mutating func take(into packet: borrowing Packet) {
        packet.take(packets[direction == .forwards ? taken : packets.count - 1 - taken])
        taken += 1
    }
}

/// Reads the packets of clips in read blocks, in the order of the output, each while the previous one is in use.
/// `@unchecked` because other threads touch the state of the reading thread only while it is idle.
private final class BlockReader: @unchecked Sendable {
    private let thread = WorkQueue()
    private let sources: [IndexedSource]
    /// The source that is open: clips of one source often follow one another.
    private var open: (source: Int, reader: VideoReader, starts: StartTable)?
    private var clips: ArraySlice<Clip>
    /// The frames of the first of the clips that are still to be read.
    private var left: Range<Int>
    private var block = PacketBlock()
    private var failure: ReelFailure?
    private var revisions: [Int: ByteRevision] = [:]

    init(_ sources: [IndexedSource], clips: [Clip]) throws(ReelFailure) {
        self.sources = sources
        self.clips = clips[...]
        left = clips.first?.frames ?? 0..<0
        for source in Set(clips.map(\.source)) { revisions[source] = try sources[source].locator.revision() }
        thread.add { [self] in read() }
    }

    /// The next block; empty after the last.
    func next() throws(ReelFailure) -> PacketBlock {
        thread.wait()
        if let failure { throw failure }
        var taken = PacketBlock()
        swap(&taken, &block)
        thread.add { [self] in read() }
        return taken
    }

    /// Throws `.sourceReplaced` if a file was written to or replaced since the copying began.
    func finish() throws(ReelFailure) {
        thread.wait()
        if let failure { throw failure }
        for (source, revision) in revisions {
            let locator = sources[source].locator
            guard try locator.revision() == revision else { throw ReelFailure(.sourceReplaced(path: locator.name)) }
        }
    }

    private func read() {
        // An output of one rate may leave out all frames of a block.
        while failure == nil, block.isEmpty {
            if left.isEmpty {
                clips = clips.dropFirst()
                left = clips.first?.frames ?? 0..<0
            }
            guard !left.isEmpty, let clip = clips.first else { return }
            let direction = clip.direction
            let frames = sources[clip.source].index.video.readBlock(of: left, direction)
            left = direction == .forwards ? left.dropFirst(frames.count) : left.dropLast(frames.count)
            do throws(ReelFailure) {
                try read(frames, of: clip)
                block.direction = direction
            } catch { failure = error }
        }
    }

    private func opened(_ source: Int) throws(ReelFailure) -> (reader: VideoReader, starts: StartTable) {
        if let open, open.source == source { return (open.reader, open.starts) }
        open = nil
        let track = sources[source].index.video
        let made = (try VideoReader(sources[source].locator, track: track), try StartTable(track))
        open = (source, made.0, made.1)
        return made
    }

    private func read(_ frames: Range<Int>, of clip: Clip) throws(ReelFailure) {
        let (reader, starts) = try opened(clip.source)
        let packets = reader.track.frames[frames].map { Int($0.packet) }
        try reader.start(at: starts.point(for: frames.lowerBound), through: packets.max() ?? 0)
        for frame in frames {
            let times = clip.places(showing: frame..<frame + 1).count
            guard times > 0 else { continue }
            let wanted = Int(reader.track.frames[frame].packet)
            let packet = try Packet()
            var number: Int?
            repeat {
                packet.reset()
                number = try reader.next(into: packet)
                guard let number, number <= wanted else {
                    throw ReelFailure(.sourceChanged(path: reader.locator.name, change: .packetPlace, number: wanted))
                }
            } while number != wanted
            for _ in 1..<times { block.packets.append(try packet.reference()) }
            block.packets.append(packet)
        }
    }
}
