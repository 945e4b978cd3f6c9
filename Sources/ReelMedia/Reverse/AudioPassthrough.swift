internal import CFFmpeg
internal import ReelCore

/// Copies an audio track's packets forwards and unchanged into one segment: the packets that are heard between two
/// moments, cut at packet boundaries.
struct AudioPassthrough {
    let source: Locator
    let track: AudioTrack
    /// The range in seconds on the source's clock.
    let from: Rational
    let to: Rational
    /// Whether the output can hide the track's preroll, by an edit list or a codec delay.
    let hidesPreroll: Bool

    private var clock: TimeBase { TimeBase(1, Int64(track.sampleRate)) }

    /// Writes the segment. If it has no audible sound, it reports `ifSilent`. Calls `progress` after each packet.
    func write(
        making content: SegmentContent, to place: SegmentPlace, ifSilent: Diagnostic, progress: () -> Void
    ) throws(ReelFailure) -> SegmentRecord {
        let demuxer = try Demuxer(source)
        guard let stream = demuxer.stream(track.index) else {
            throw ReelFailure(.sourceChanged(path: source.name, change: .stream, number: track.index))
        }
        demuxer.selectAlone(track.index)
        var times = PacketTimes(stream: stream, sampleRate: track.sampleRate)
        let end = clock.ticks(in: to, rounding: .nearest)
        var cut: Cut?
        var held: [HeldPacket] = []
        var writing: Writing?
        while true {
            let next = HeldPacket(try Packet())
            guard try demuxer.read(into: next.packet) else { break }
            guard next.packet.streamIndex == track.index, next.packet.size > 0 else { continue }
            next.span = times.place(next.packet)
            guard next.span.lowerBound < end else { break }
            let start = cut ?? self.cut(atFirst: next)
            cut = start
            if let writing {
                try writing.write(next, until: end)
            } else {
                held.append(next)
                while held.count > start.preroll + 1, held[start.preroll + 1].span.lowerBound <= start.heard {
                    held.removeFirst()
                }
                if next.span.upperBound > start.heard, let first = held.first {
                    let new = try Writing(track, at: place, clock, first.span.lowerBound, heard: start.heard)
                    for packet in held { try new.write(packet, until: end) }
                    (held, writing) = ([], new)
                }
            }
            progress()
        }
        let zero = clock.ticks(in: from, rounding: .nearest)
        let last = if let writing { writing } else { try Writing(track, at: place, clock, zero, heard: zero) }
        return try last.finish(content, place.name, zero: zero, ifSilent: ifSilent)
    }

    /// The first packets to copy: where the sound begins, and the preroll before it.
    private struct Cut {
        /// The first moment that is heard, in samples on the source's clock.
        var heard: Int64
        /// The number of packets that a decoder needs before it.
        var preroll: Int
    }

    private func cut(atFirst first: HeldPacket) -> Cut {
        let wanted = clock.ticks(in: from, rounding: .nearest)
        let own = first.span.lowerBound + Int64(max(first.packet.skippedSamples.start, track.opusPreSkip))
        // The source's clock may be coarser than a sample.
        let tick = clock.ticks(in: track.timeBase.secondsPerTick, rounding: .up)
        guard wanted > own + tick else { return Cut(heard: own, preroll: .max - 1) }
        // Packets of WavPack and TTA decode alone. Their encoders, which reel does not choose, have no row.
        guard hidesPreroll, !["wavpack", "tta"].contains(track.codec) else { return Cut(heard: wanted, preroll: 0) }
        return Cut(
            heard: wanted, preroll: AudioEncoderTraits.making(track.codec).prerollPackets(first.span.count))
    }
}

/// A packet, and the interval in which it is heard, in samples on the source's clock.
private final class HeldPacket {
    let packet: Packet
    var span: Range<Int64> = 0..<0

    init(_ packet: consuming Packet) { self.packet = packet }
}

/// Packets to be written to the segment, whose clock starts with the first of them.
private final class Writing {
    private let writer: SegmentWriter
    private let clock: TimeBase
    /// When the first packet begins, in samples on the source's clock.
    private let origin: Int64
    /// Samples from there to the first that is heard.
    private let padding: Int
    private var end: Int64
    private var trailingPadding = 0

    init(
        _ track: AudioTrack, at place: SegmentPlace, _ clock: TimeBase, _ origin: Int64, heard: Int64
    ) throws(ReelFailure) {
        let padding = max(0, Int(heard - origin))
        (self.clock, self.origin, self.padding, end) = (clock, origin, padding, origin)
        writer = try SegmentWriter(at: place, timeBase: clock) { (parameters) throws(ReelFailure) in
            try track.describe(into: parameters, padding: padding)
        }
    }

    /// Samples from `limit` on are not to be heard.
    func write(_ held: HeldPacket, until limit: Int64) throws(ReelFailure) {
        held.packet.pts = Timestamp(held.span.lowerBound - origin)
        held.packet.dts = held.packet.pts
        let heard = min(held.span.upperBound - Int64(held.packet.skippedSamples.end), limit)
        end = max(end, heard)
        trailingPadding = Int(held.span.upperBound - min(max(heard, held.span.lowerBound), held.span.upperBound))
        try writer.write(held.packet)
    }

    func finish(
        _ content: SegmentContent, _ name: SegmentName, zero: Int64, ifSilent: Diagnostic
    ) throws(ReelFailure) -> SegmentRecord {
        let heard = origin + Int64(padding)
        let frames = Int(max(end - heard, 0))
        return try writer.finish(
            SegmentRecord(
                content: content, clip: name.subject.clip, token: name.token, frames: frames, packets: 0, bytes: 0,
                checksum: "", timeBase: clock, reorderDepth: 0, extradataHash: "", initialPadding: padding,
                trailingPadding: trailingPadding, start: max(heard - zero, 0),
                diagnostics: frames > 0 ? [] : [ifSilent]))
    }
}

/// When packets are heard, in samples: each right after the one before, except that timestamps which run ahead by a
/// hole move the later ones.
private struct PacketTimes {
    private let stream: UnsafeMutablePointer<AVStream>
    private let timeBase: TimeBase
    private let clock: TimeBase
    private let hole: Int64
    private var end: Int64?

    init(stream: UnsafeMutablePointer<AVStream>, sampleRate: Int) {
        self.stream = stream
        timeBase = TimeBase(stream.pointee.time_base)
        clock = TimeBase(1, Int64(sampleRate))
        hole = clock.ticks(in: AudioTimeline.shortestHole, rounding: .up)
    }

    mutating func place(_ packet: borrowing Packet) -> Range<Int64> {
        let known = Int64(av_get_audio_frame_duration2(stream.pointee.codecpar, Int32(packet.size)))
        let said = timeBase.convert(packet.duration.count, to: clock, rounding: .nearest)
        let due = packet.pts.map { timeBase.convert($0.ticks, to: clock, rounding: .nearest) }
        let tolerance = known > 0 ? hole : clock.ticks(in: timeBase.secondsPerTick, rounding: .up)
        var start = due ?? end ?? 0
        if let end, known > 0 ? start < end + tolerance : (start - end).magnitude < tolerance { start = end }
        if let end { start = max(start, end - (known > 0 ? 0 : tolerance)) }
        let length = max(known > 0 ? known : said, 1)
        self.end = start + length
        return start..<start + length
    }
}
