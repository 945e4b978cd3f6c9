internal import CFFmpeg
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
    /// Throws if the packets' origin differs from its record. Called when all packets have been taken.
    func finish() throws(ReelFailure)
    /// The reason why a packet that was taken is rejected: that its origin differs from its record, else the
    /// given reason.
    func judged(_ failure: ReelFailure) -> ReelFailure
}

extension PacketSource {
    func judged(_ failure: ReelFailure) -> ReelFailure { failure }
}

/// Interleaves the packets of several streams for writing.
struct Interleaving {
    /// The length in seconds of an interleaving interval; nil interleaves packet by packet. MP4 stores a table entry
    /// for each interval.
    let interval: Rational?

    /// The source whose packet comes next; nil if all are at their end.
    func next(of sources: [any PacketSource]) -> Int? {
        var best: (index: Int, dts: Timestamp)?
        for (index, source) in sources.enumerated() {
            guard let dts = source.upcoming else { continue }
            guard let now = best, !isEarlier(dts, source.timeBase, than: now.dts, sources[now.index].timeBase) else {
                best = (index, dts)
                continue
            }
        }
        return best?.index
    }

    private func isEarlier(_ a: Timestamp, _ aBase: TimeBase, than b: Timestamp, _ bBase: TimeBase) -> Bool {
        guard let interval else { return av_compare_ts(a.ticks, aBase.native, b.ticks, bBase.native) < 0 }
        let clock = TimeBase(secondsPerTick: interval)
        return aBase.convert(a.ticks, to: clock, rounding: .down) < bBase.convert(b.ticks, to: clock, rounding: .down)
    }
}
