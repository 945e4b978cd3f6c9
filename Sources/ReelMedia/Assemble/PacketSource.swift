internal import ReelCore

/// A stream of packets for the output, in decode order, each with its final times.
protocol PacketSource: AnyObject {
    /// The unit of the packets' times.
    var timeBase: TimeBase { get }
    /// The decode time of the packet that `take` moves out next; nil at the end.
    var upcoming: Timestamp? { get }
    /// The time by which Matroska wants a packet to be written later than its timestamp (CodecDelay, RFC 9559
    /// 5.1.4.1.25).
    var matroskaDelay: Ticks { get }
    /// Moves the next packet out.
    func take(into packet: borrowing Packet) throws(ReelFailure)
    /// Throws if the packets' origin is not what it should have been. Called when all packets have been taken.
    func finish() throws(ReelFailure)
    /// The reason why a packet that was taken is rejected: that its origin is not what it should have been, else the
    /// given reason.
    func judged(_ failure: ReelFailure) -> ReelFailure
}

extension PacketSource {
    func judged(_ failure: ReelFailure) -> ReelFailure { failure }
}
