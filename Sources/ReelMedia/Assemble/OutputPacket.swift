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
}

/// One segment file, opened and compared with what it must be.
final class SegmentReader {
    let record: SegmentRecord
    private let demuxer: Demuxer
    private let ownBase: TimeBase

    /// Throws where the segment's encoder made other parameters than `parameters` says: decoding would break there.
    init(
        folder: String, record: SegmentRecord, parameters: UnsafePointer<AVCodecParameters>
    ) throws(ReelFailure) {
        self.record = record
        demuxer = try Demuxer(path: "\(folder)/\(record.name)", purpose: .segment)
        guard let stream = demuxer.stream(0), let own = stream.pointee.codecpar else {
            throw ReelFailure(.segmentFlawed(segment: record.name.text, flaw: .noStream))
        }
        ownBase = TimeBase(stream.pointee.time_base)
        guard own.pointee.header.elementsEqual(parameters.pointee.header) else {
            throw ReelFailure(.segmentFlawed(segment: record.name.text, flaw: .otherParameters))
        }
    }

    /// Fills the packet with the next one, its time in the record's time base; false at the end.
    func read(into packet: borrowing Packet) throws(ReelFailure) -> Bool {
        guard try demuxer.read(into: packet) else { return false }
        packet.pts = packet.pts.map { Timestamp(ownBase.convert($0.ticks, to: record.timeBase, rounding: .nearest)) }
        return true
    }
}

/// Orders packets of several streams for writing.
struct Interleaving {
    /// Streams take turns in stretches of this many seconds; nil orders packet by packet. MP4 keeps a table entry for
    /// every turn.
    let stretch: Rational?

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
        guard let stretch else { return av_compare_ts(a.ticks, aBase.native, b.ticks, bBase.native) < 0 }
        let clock = TimeBase(secondsPerTick: stretch)
        return aBase.convert(a.ticks, to: clock, rounding: .down) < bBase.convert(b.ticks, to: clock, rounding: .down)
    }
}
