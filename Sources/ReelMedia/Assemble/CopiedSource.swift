internal import BasicContainers
internal import CFFmpeg
internal import ReelCore

/// The source's own packets, from the last to the first, where each is a whole frame: nothing is decoded or encoded, and
/// no segment lies between.
///
/// Files are read forwards, so packets come in stretches: each is read into memory, and handed out from its end.
final class CopiedSource: PacketSource {
    let timeBase: TimeBase
    private let reader: VideoReader
    private let timeline: Timeline
    private let track: VideoTrack
    private let shift: Ticks
    /// The stretch in memory, in the order of the file.
    private var packets = UniqueArray<Packet>()
    /// Frames that are still to be handed out, in presentation order.
    private var left: Range<Int>

    /// - Parameter shift: by how much everything is shown later.
    init(path: String, plan: Plan, track: VideoTrack, shift: Ticks) throws(ReelFailure) {
        reader = try VideoReader(path: path, track: track)
        timeline = plan.timeline
        timeBase = timeline.timeBase
        self.track = track
        self.shift = shift
        left = timeline.frames
    }

    var matroskaDelay: Ticks { .zero }

    var upcoming: Timestamp? { left.last.map { timeline.interval(of: $0, in: track).start + shift } }

    func take(into packet: borrowing Packet) throws(ReelFailure) {
        if packets.isEmpty { try readStretch() }
        guard let frame = left.last, let next = packets.popLast() else {
            throw ReelFailure(.job, "\(reader.path): the packets end before the plan does")
        }
        av_packet_move_ref(packet.native, next.native)
        av_packet_free_side_data(packet.native)
        let interval = timeline.interval(of: frame, in: track)
        (packet.pts, packet.dts, packet.duration) = (interval.start + shift, interval.start + shift, interval.duration)
        packet.native.pointee.flags = AV_PKT_FLAG_KEY
        left.removeLast()
    }

    /// Reads the packets before those that were handed out.
    private func readStretch() throws(ReelFailure) {
        let stretch = track.copiedStretch(endOf: left)
        try reader.start(at: track.randomAccessPoint(showing: stretch.lowerBound))
        let packet = try Packet()
        for frame in stretch {
            let wanted = Int(track.frames[frame].packet)
            var number: Int?
            repeat {
                number = try reader.next(into: packet)
                guard let number, number <= wanted else {
                    throw ReelFailure(.input, "\(reader.path): packet \(wanted) is not where it was; submit it again")
                }
            } while number != wanted
            let taken = try Packet()
            av_packet_move_ref(taken.native, packet.native)
            packets.append(taken)
        }
    }

}
