internal import BasicContainers
internal import CFFmpeg
internal import Dispatch
internal import ReelCore

/// The source's own packets from the last to the first, if each is a whole frame. Nothing is decoded or encoded, and
/// there are no segments.
///
/// Files are read forwards, so packets come in read blocks: each block is read into memory and handed out from its end,
/// while the one before it is read.
final class PassthroughSource: PacketSource {
    let timeBase: TimeBase
    private let blocks: BlockReader
    private let clip: Clip
    private let track: VideoTrack
    private let shift: Ticks
    /// The block in memory, in the order of the file.
    private var packets = UniqueArray<Packet>()
    /// Frames that are still to be handed out, in presentation order.
    private var left: Range<Int>

    /// - Parameter shift: the time by which the whole output starts later.
    init(_ source: IndexedSource, clip: Clip, shift: Ticks) throws(ReelFailure) {
        track = source.index.video
        blocks = try BlockReader(source.locator, track: track, frames: clip.frames)
        self.clip = clip
        timeBase = clip.map.output
        self.shift = shift
        left = clip.frames
    }

    var matroskaDelay: Ticks { .zero }

    /// Notices packets that were overwritten while they were copied.
    func finish() throws(ReelFailure) { try blocks.finish() }

    var upcoming: Timestamp? { left.last.map { clip.interval(of: $0, in: track).start + shift } }

    func take(into packet: borrowing Packet) throws(ReelFailure) {
        if packets.isEmpty { packets = try blocks.next() }
        guard let frame = left.last, let next = packets.popLast() else {
            throw ReelFailure(.partsEnded(parts: .packets))
        }
        packet.take(next)
        av_packet_free_side_data(packet.native)
        let interval = clip.interval(of: frame, in: track)
        (packet.pts, packet.dts, packet.duration) = (interval.start + shift, interval.start + shift, interval.duration)
        packet.native.pointee.flags = AV_PKT_FLAG_KEY
        left.removeLast()
    }
}

/// Reads a source in read blocks, the last one first, each while the previous one is in use.
private final class BlockReader {
    private let ahead: Ahead
    private let thread = DispatchQueue(label: "reel.copy")

    /// - Parameter frames: the frames whose packets are read, in presentation order.
    init(_ source: Locator, track: VideoTrack, frames: Range<Int>) throws(ReelFailure) {
        let revision = try source.revision()
        ahead = Ahead(
            reader: try VideoReader(source, track: track), starts: try StartTable(track), left: frames,
            revision: revision)
        thread.async { [ahead] in ahead.read() }
    }

    /// The next block, in the order of the file; empty after the last.
    func next() throws(ReelFailure) -> UniqueArray<Packet> {
        thread.sync {}
        let packets = try ahead.take()
        thread.async { [ahead] in ahead.read() }
        return packets
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
        private var left: Range<Int>
        private var packets = UniqueArray<Packet>()
        private var failure: ReelFailure?
        private let revision: ByteRevision

        init(reader: VideoReader, starts: StartTable, left: Range<Int>, revision: ByteRevision) {
            self.reader = reader
            self.revision = revision
            self.starts = starts
            self.left = left
        }

        func take() throws(ReelFailure) -> UniqueArray<Packet> {
            if let failure { throw failure }
            var taken = UniqueArray<Packet>()
            swap(&taken, &packets)
            return taken
        }

        func finish() throws(ReelFailure) {
            if let failure { throw failure }
            guard try reader.locator.revision() == revision else {
                throw ReelFailure(.sourceReplaced(path: reader.locator.name))
            }
        }

        func read() {
            guard failure == nil, !left.isEmpty else { return }
            let block = reader.track.readBlock(endOf: left)
            left = left.lowerBound..<block.lowerBound
            do throws(ReelFailure) {
                try read(block)
            } catch {
                failure = error
            }
        }

        private func read(_ block: Range<Int>) throws(ReelFailure) {
            try reader.start(at: starts.point(for: block.lowerBound))
            for frame in block {
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
                packets.append(packet)
            }
        }
    }
}
