internal import CFFmpeg
internal import ReelCore

/// The container's list of a video's packets, so that not all of them have to be read: reading costs time even if the
/// payload stays on disk. The list is used if the packets at the file's start agree with it, and is checked again at
/// its end.
struct PacketTable {
    private let stream: UnsafeMutablePointer<AVStream>
    private let count: Int32
    private var offsets: CompositionOffsets
    /// The time that libavformat adds to all presentation times.
    private var shift: Int64?
    private var place: Int32 = 0
    private var isTrue = true
    /// The key packet from which on packets are read again: the table does not contain everything about the last ones.
    private let tail: Int32
    /// The place of the next packet to be read, after packets were taken from the table.
    private var awaited: Int64?
    private(set) var wasTaken = false

    /// The number of packets compared at the start and at the end.
    private static let compared: Int32 = 256

    /// Nil if libavformat's list is incomplete, or is not the track's samples in their order.
    init?(_ stream: UnsafeMutablePointer<AVStream>, in demuxer: Demuxer) throws(ReelFailure) {
        self.stream = stream
        count = avformat_index_get_entries_count(stream)
        let last = (Self.compared * 2..<max(count - Self.compared, Self.compared * 2)).last { place in
            avformat_index_get_entry(stream, place).map { $0.pointee.flags & AVINDEX_KEYFRAME != 0 } ?? false
        }
        guard let last, let offsets = try demuxer.compositionOffsets(of: stream), offsets.samples == Int(count) else {
            return nil
        }
        (tail, self.offsets) = (last, offsets)
    }

    /// Whether a packet that was read is needed: seeking may lead to one before the expected one.
    mutating func wants(_ packet: borrowing Packet) -> Bool {
        guard let awaited else { return true }
        guard packet.position == awaited else { return false }
        self.awaited = nil
        return true
    }

    /// Compares the next packet that was read with the list.
    mutating func compare(_ packet: ScannedPacket) throws(ReelFailure) {
        guard isTrue else { return }
        guard let pts = packet.pts, var listed = try next() else { return isTrue = false }
        if shift == nil {
            shift = listed.pts.map { pts.ticks - $0.ticks }
            listed.pts = pts
        }
        isTrue =
            pts == listed.pts && packet.dts == listed.dts && packet.size == listed.size
            && packet.position == listed.position && packet.flags == listed.flags
    }

    /// Whether the packets up to the tail may now be taken from the table.
    var mayBeTaken: Bool { isTrue && !wasTaken && place >= Self.compared && place < tail }

    /// Takes the next packet before the tail; nil at the tail.
    mutating func take() throws(ReelFailure) -> ScannedPacket? {
        wasTaken = true
        return place < tail ? try next() : nil
    }

    /// Expects the tail's first packet next; returns the time to seek to for it.
    mutating func awaitTail() -> Timestamp? {
        guard let entry = avformat_index_get_entry(stream, tail)?.pointee else { return nil }
        awaited = entry.pos
        return Timestamp(native: entry.timestamp)
    }

    /// Whether all packets were read or taken, and the ones that were read agree with the list.
    var isProven: Bool { isTrue && place == count }

    /// The entry without its duration, which matters only for the last packet.
    private mutating func next() throws(ReelFailure) -> ScannedPacket? {
        guard let entry = avformat_index_get_entry(stream, place)?.pointee, let offset = try offsets.next() else {
            return nil
        }
        place += 1
        var flags: PacketEntry.Flags = []
        if entry.flags & AVINDEX_KEYFRAME != 0 { flags.insert(.key) }
        if entry.flags & AVINDEX_DISCARD_FRAME != 0 { flags.insert(.discarded) }
        guard let dts = Timestamp(native: entry.timestamp),
            let pts = Timestamp(native: entry.timestamp &+ (shift ?? 0) &+ offset)
        else { return nil }
        return ScannedPacket(
            pts: pts, dts: dts, duration: .zero, size: entry.size, position: entry.pos, flags: flags,
            startsDecoding: flags.contains(.key))
    }
}
