internal import CFFmpeg
internal import ReelCore

/// Encodes sound continuously into one segment: a whole track, or a part whose packets join those of the parts beside it.
final class AudioEncoding {
    private let content: SegmentContent
    private let encoder: Encoder
    private let writer: SegmentWriter
    private let input: SoundFormat
    private let channels: Int
    private let resampler: Resampler
    private let part: Part?
    /// Samples per channel that are encoded, from the track's start on; a part does not begin there.
    private var encoded: Int64
    /// The number of samples per channel that are encoded; nil for all that come.
    private let wanted: Int64?
    private var trailingPadding = 0
    private let packet: Packet
    /// Whether packets get their times by their number, and that number.
    private let countsTimes: Bool
    private var packets = 0
    /// Bytes of the packets so far.
    private(set) var payload: Int64 = 0

    /// Samples read back from the spill at a time.
    private static let block = 1024

    /// A part of a track, in samples per channel of the encoded track.
    struct Part {
        /// The samples whose packets are kept.
        let kept: Range<Int>
        /// The samples that are encoded.
        let encoded: Range<Int>
        /// Whether the track ends with the part.
        let isLast: Bool
    }

    /// The source's track has the target's format. `input` is the format of what is encoded, with channels interleaved,
    /// `length` the length of the sound in seconds; nil for as long as what is encoded. `part` is what is encoded of the
    /// track; nil for all of it.
    init(
        target: AudioTarget, track: AudioTrack, input: SoundFormat, making content: SegmentContent,
        at place: SegmentPlace, lasting length: Rational?, part: Part? = nil
    ) throws(ReelFailure) {
        let clock = TimeBase(1, Int64(target.sampleRate))
        wanted = length.map { clock.ticks(in: $0, rounding: .nearest) }
        (self.content, self.input, self.part) = (content, input, part)
        encoded = Int64(part?.encoded.lowerBound ?? 0)
        channels = try input.channels()
        packet = try Packet()
        encoder = try Encoder(target, track: track)
        countsTimes = AudioEncoderTraits.named(target.encoder, codec: target.encoder).timesEndEarly
        writer = try SegmentWriter(at: place, timeBase: clock, describe: encoder.describe)
        let output = SoundFormat(sample: encoder.sampleFormat, rate: target.sampleRate, layout: target.channelLayout)
        resampler = try Resampler(from: input, to: output)
    }

    private var frameSize: Int { encoder.samplesPerPacket }

    /// Whether all packets of the part are there, so that no more sound is needed.
    private var isDone: Bool {
        guard let part, !part.isLast else { return false }
        return encoded >= Int64(part.encoded.upperBound)
    }

    /// Encodes a sound to its end, or a crossfade of two that are equally long, from the first to the second. Calls
    /// `progress` for each block of samples.
    func encode(_ sounds: [SpanCursor], crossfade: SoundEdit.Crossfade?, progress: () -> Void) throws(ReelFailure) {
        guard var sound = sounds.first else { return }
        var rising = sounds.dropFirst().first
        let mix = crossfade == nil ? nil : try mixer(of: input.sample)
        let frameBytes = channels * Int(av_get_bytes_per_sample(input.sample))
        let more = UnsafeMutableRawPointer.allocate(byteCount: Self.block * frameBytes, alignment: 16)
        defer { more.deallocate() }
        var done = 0
        while done < sound.count, !isDone {
            let samples = Int(min(Int64(Self.block), sound.count - Int64(done)))
            let frame = try input.frame(samples)
            guard let room = frame.native.pointee.data.0 else { return }
            try sound.read(samples, into: room)
            if let crossfade, let mix {
                try rising?.read(samples, into: more)
                for sample in 0..<samples {
                    let share = min(max(crossfade.share + Double(done + sample) * crossfade.growth, 0), 1)
                    for channel in 0..<channels { mix(more, room, sample * channels + channel, share) }
                }
            }
            progress()
            try resampler.push(frame)
            while resampler.ready >= frameSize, !isDone { try encodeFrame() }
            done += samples
        }
    }

    private func encodeFrame() throws(ReelFailure) {
        let frame = try resampler.pull(frameSize)
        if let wanted {
            let left = wanted - encoded
            guard left > 0 else { return }
            frame.native.pointee.nb_samples = Int32(min(Int64(frame.sampleCount), left))
        }
        frame.pts = Timestamp(encoded)
        encoded += Int64(frame.sampleCount)
        try encoder.send(frame)
        try writePackets()
    }

    private func writePackets() throws(ReelFailure) {
        while try encoder.receive(into: packet) {
            // FLAC's last packet contains only a new header.
            if countsTimes { packet.pts = Timestamp(Int64(packets * frameSize - encoder.initialPadding)) }
            packets += 1
            guard packet.size > 0, try isKept() else { continue }
            trailingPadding = packet.skippedSamples.end
            payload += Int64(packet.size)
            try writer.write(packet, offset: Int64(encoder.initialPadding))
        }
    }

    /// Whether the packet belongs to the part. Gives it the number that it has in the track.
    private func isKept() throws(ReelFailure) -> Bool {
        guard let part, let time = packet.pts else { return true }
        let first = Int(time.ticks) + encoder.initialPadding
        guard first >= part.kept.lowerBound, part.isLast || first < part.kept.upperBound else { return false }
        if encoder.name == "flac" { try packet.renumberFLAC(first / frameSize) }
        return true
    }

    /// Encodes the samples that are left, and silence if they are fewer than the sound lasts.
    func drain() throws(ReelFailure) {
        if let part, !part.isLast {
            guard isDone else { throw mediaFailure(reel_error_invalid_data, .encode, encoder.name) }
            return
        }
        try resampler.finish()
        while let wanted, encoded + Int64(resampler.ready) < wanted {
            try resampler.pushSilence(Int(min(wanted - encoded - Int64(resampler.ready), Int64(Self.block))))
        }
        while resampler.ready > 0 { try encodeFrame() }
        try encoder.finish()
        try writePackets()
    }

    /// Closes the segment. Its first audible sample is heard at `start` in the output, in samples.
    func finish(start: Int64, diagnostics: [Diagnostic]) throws(ReelFailure) -> SegmentRecord {
        let end = part.map { $0.isLast ? Int(encoded) : $0.kept.upperBound } ?? Int(encoded)
        return try writer.finish(
            content, frames: max(end - (part?.kept.lowerBound ?? 0), 0), extradataHash: encoder.extradataHash,
            padding: (encoder.initialPadding, part?.isLast == false ? 0 : trailingPadding), start: start,
            diagnostics: diagnostics)
    }
}

/// Mixes the sample of one channel at a place into `falling`, by the share of `rising`, from 0 to 1.
private typealias Mixer = (
    _ rising: UnsafeRawPointer, _ falling: UnsafeMutableRawPointer, _ place: Int, _ share: Double
) -> Void

/// The mixer of a format of interleaved samples. Throws if libavutil has one that is not known here.
private func mixer(of format: AVSampleFormat) throws(ReelFailure) -> Mixer {
    switch format {
    case AV_SAMPLE_FMT_U8: mixer(of: UInt8.self, zero: 128)
    case AV_SAMPLE_FMT_S16: mixer(of: Int16.self)
    case AV_SAMPLE_FMT_S32: mixer(of: Int32.self)
    case AV_SAMPLE_FMT_S64: mixer(of: Int64.self)
    case AV_SAMPLE_FMT_FLT: mixer({ (sample: Float) in Double(sample) }, Float.init)
    case AV_SAMPLE_FMT_DBL: mixer({ (sample: Double) in sample }, { $0 })
    default: throw mediaFailure(reel_error_invalid_data, .convertSamples)
    }
}

private func mixer<Sample: FixedWidthInteger & BitwiseCopyable>(of _: Sample.Type, zero: Double = 0) -> Mixer {
    // Within the range of both, except that Double rounds the greatest integers of 64 bits up.
    mixer({ (sample: Sample) in Double(sample) - zero }) { mixed in
        Sample(exactly: mixed.rounded() + zero) ?? (mixed > 0 ? .max : .min)
    }
}

private func mixer<Sample: BitwiseCopyable>(
    _ number: @escaping (Sample) -> Double, _ sample: @escaping (Double) -> Sample
) -> Mixer {
    { rising, falling, place, share in
        let offset = place * MemoryLayout<Sample>.size
        let a = number(falling.loadUnaligned(fromByteOffset: offset, as: Sample.self))
        let b = number(rising.loadUnaligned(fromByteOffset: offset, as: Sample.self))
        falling.storeBytes(of: sample(a + (b - a) * share), toByteOffset: offset, as: Sample.self)
    }
}

/// Copies an audio track's packets forwards and unchanged into one segment: the packets that are heard between two
/// moments, cut at packet boundaries.
struct AudioPassthrough {
    let source: Locator
    let track: AudioTrack
    /// The range in seconds on the source's clock.
    let from, to: Rational
    /// Whether the output can hide the track's preroll, by an edit list or a codec delay.
    let hidesPreroll: Bool

    private var clock: TimeBase { track.samples }

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
                    let new = try Writing(track, at: place, first.span.lowerBound, heard: start.heard)
                    for packet in held { try new.write(packet, until: end) }
                    (held, writing) = ([], new)
                }
            }
            progress()
        }
        let zero = clock.ticks(in: from, rounding: .nearest)
        let last = if let writing { writing } else { try Writing(track, at: place, zero, heard: zero) }
        return try last.finish(content, zero: zero, ifSilent: ifSilent)
    }

    /// The first moment that is heard, in samples on the source's clock, and the number of packets that a decoder needs
    /// before it.
    private typealias Cut = (heard: Int64, preroll: Int)

    private func cut(atFirst first: HeldPacket) -> Cut {
        let wanted = clock.ticks(in: from, rounding: .nearest)
        let own = first.span.lowerBound + Int64(max(first.packet.skippedSamples.start, track.opusPreSkip))
        // The source's clock may be coarser than a sample.
        let tick = clock.ticks(in: track.timeBase.secondsPerTick, rounding: .up)
        guard wanted > own + tick else { return (own, .max - 1) }
        // Packets of WavPack and TTA decode alone. Their encoders, which reel does not choose, have no row.
        guard hidesPreroll, !["wavpack", "tta"].contains(track.codec) else { return (wanted, 0) }
        return (wanted, AudioEncoderTraits.making(track.codec).prerollPackets(first.span.count))
    }
}

extension AudioTrack {
    /// A clock that counts samples.
    fileprivate var samples: TimeBase { TimeBase(1, Int64(sampleRate)) }
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
    /// When the first packet begins, in samples on the source's clock.
    private let origin: Int64
    /// Samples from there to the first that is heard.
    private let padding: Int
    private var end: Int64
    private var trailingPadding = 0

    init(_ track: AudioTrack, at place: SegmentPlace, _ origin: Int64, heard: Int64) throws(ReelFailure) {
        let padding = max(0, Int(heard - origin))
        (self.origin, self.padding, end) = (origin, padding, origin)
        writer = try SegmentWriter(at: place, timeBase: track.samples) { (parameters) throws(ReelFailure) in
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

    func finish(_ content: SegmentContent, zero: Int64, ifSilent: Diagnostic) throws(ReelFailure) -> SegmentRecord {
        let heard = origin + Int64(padding)
        let frames = Int(max(end - heard, 0))
        return try writer.finish(
            content, frames: frames, extradataHash: "", padding: (padding, trailingPadding),
            start: max(heard - zero, 0), diagnostics: frames > 0 ? [] : [ifSilent])
    }
}

/// When packets are heard, in samples: each right after the one before, except that timestamps which run ahead by a
/// hole move the later ones.
private struct PacketTimes {
    private let stream: NativeStream
    private let timeBase, clock: TimeBase
    private let hole: Int64
    private var end: Int64?

    init(stream: NativeStream, sampleRate: Int) {
        self.stream = stream
        timeBase = stream.timeBase
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
