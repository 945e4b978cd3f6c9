internal import BasicContainers
internal import CFFmpeg
internal import Dispatch
internal import ReelCore

/// The source's own packets in the order of the output, if each is a whole frame. Nothing is decoded or encoded, and there
/// are no segments.
///
/// Files are read forwards, so packets come in read blocks: each block is read into memory and handed out, from its end if
/// its clip runs backwards, while the next one is read.
final class PassthroughSource: PacketSource {
    let timeBase: TimeBase
    private let blocks: BlockReader
    private let order: FrameOrder
    private let track: VideoTrack
    private let shift: Ticks
    private var block = PacketBlock()
    /// The number of frames that were handed out.
    private var written = 0

    /// - Parameters:
    ///   - source: that of all clips.
    ///   - shift: the time by which the whole output starts later.
    init(_ source: IndexedSource, plan: Plan, shift: Ticks) throws(ReelFailure) {
        track = source.index.video
        blocks = try BlockReader(source.locator, track: track, clips: plan.clips)
        order = FrameOrder(plan)
        timeBase = plan.video.format.timeBase
        self.shift = shift
    }

    var matroskaDelay: Ticks { .zero }

    /// Notices packets that were overwritten while they were copied.
    func finish() throws(ReelFailure) { try blocks.finish() }

    private var interval: Interval? {
        guard written < order.count else { return nil }
        let (clip, frame) = order.frame(at: written)
        return clip.interval(of: frame, in: track)
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
private final class BlockReader {
    private let ahead: Ahead
    private let thread = DispatchQueue(label: "reel.copy")

    /// - Parameter clips: of this source alone.
    init(_ source: Locator, track: VideoTrack, clips: [Clip]) throws(ReelFailure) {
        let revision = try source.revision()
        ahead = Ahead(
            reader: try VideoReader(source, track: track), starts: try StartTable(track), clips: clips,
            revision: revision)
        thread.async { [ahead] in ahead.read() }
    }

    /// The next block; empty after the last.
    func next() throws(ReelFailure) -> PacketBlock {
        thread.sync {}
        let block = try ahead.take()
        thread.async { [ahead] in ahead.read() }
        return block
    }

    /// Throws `.sourceReplaced` if the file was written to or replaced since it was opened.
    func finish() throws(ReelFailure) {
        thread.sync {}
        try ahead.finish()
    }

    /// The state of the reading thread. `@unchecked` because other threads touch it only while that thread is idle.
    private final class Ahead: @unchecked Sendable {
        private let reader: VideoReader
        private let starts: StartTable
        private var clips: ArraySlice<Clip>
        /// The frames of the first of the clips that are still to be read.
        private var left: Range<Int>
        private var block = PacketBlock()
        private var failure: ReelFailure?
        private let revision: ByteRevision

        init(reader: VideoReader, starts: StartTable, clips: [Clip], revision: ByteRevision) {
            self.reader = reader
            self.revision = revision
            self.starts = starts
            self.clips = clips[...]
            left = clips.first?.frames ?? 0..<0
        }

        func take() throws(ReelFailure) -> PacketBlock {
            if let failure { throw failure }
            var taken = PacketBlock()
            swap(&taken, &block)
            return taken
        }

        func finish() throws(ReelFailure) {
            if let failure { throw failure }
            guard try reader.locator.revision() == revision else {
                throw ReelFailure(.sourceReplaced(path: reader.locator.name))
            }
        }

        func read() {
            if left.isEmpty {
                clips = clips.dropFirst()
                left = clips.first?.frames ?? 0..<0
            }
            guard failure == nil, !left.isEmpty, let direction = clips.first?.direction else { return }
            let frames = reader.track.readBlock(of: left, direction)
            left = direction == .forwards ? left.dropFirst(frames.count) : left.dropLast(frames.count)
            do throws(ReelFailure) {
                try read(frames)
                block.direction = direction
            } catch {
                failure = error
            }
        }

        private func read(_ frames: Range<Int>) throws(ReelFailure) {
            try reader.start(at: starts.point(for: frames.lowerBound))
            for frame in frames {
                let wanted = Int(reader.track.frames[frame].packet)
                let packet = try Packet()
                var number: Int?
                repeat {
                    packet.reset()
                    number = try reader.next(into: packet)
                    guard let number, number <= wanted else {
                        throw ReelFailure(
                            .sourceChanged(path: reader.locator.name, change: .packetPlace, number: wanted))
                    }
                } while number != wanted
                block.packets.append(packet)
            }
        }
    }
}
