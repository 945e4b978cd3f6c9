internal import CFFmpeg
internal import ReelCore

/// A stream of packets on their way into the output, in decode order, each with its final times.
protocol PacketSource: AnyObject {
    /// What the packets' times count in.
    var timeBase: TimeBase { get }
    /// The decode time of the packet that `take` gives next; nil at the end.
    var upcoming: Timestamp? { get }
    /// How much later than its time Matroska wants a packet to be written (CodecDelay, RFC 9559 5.1.4.1.25).
    var matroskaDelay: Ticks { get }
    /// Moves the next packet out.
    func take(into packet: borrowing Packet) throws(ReelFailure)
    /// Throws where what the packets came from is not what it should have been. Called when all have been taken.
    func finish() throws(ReelFailure)
    /// Why a packet that was taken is refused: because what it came from is not what it should have been, else for the
    /// reason given.
    func judged(_ failure: ReelFailure) -> ReelFailure
}

extension PacketSource {
    func judged(_ failure: ReelFailure) -> ReelFailure { failure }
}

/// Orders packets of several streams for writing.
struct Interleaving {
    /// Streams take turns in intervals of this many seconds; nil orders packet by packet. MP4 keeps a table entry for
    /// every turn.
    let interval: Rational?

    /// The source whose packet comes next; nil where all are at their end.
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
