internal import CFFmpeg
internal import ReelCore

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
