internal import CFFmpeg
internal import ReelCore

/// Encodes sound continuously into one segment.
final class AudioEncoding {
    private let content: SegmentContent
    private let token: String
    /// Samples of the output.
    private let clock: TimeBase
    private let encoder: Encoder
    private let writer: SegmentWriter
    private let input: SoundFormat
    private let channels: Int
    private let resampler: Resampler
    private var encoded: Int64 = 0
    /// The number of samples per channel that are encoded; nil for all that come.
    private let wanted: Int64?
    private var trailingPadding = 0
    private let packet: Packet

    /// Samples read back from the spill at a time.
    private static let block = 1024

    /// - Parameters:
    ///   - track: the source's track that has the target's format.
    ///   - input: the format of what is encoded, with channels interleaved.
    ///   - length: for how long the sound lasts, in seconds; nil for as long as what is encoded.
    init(
        target: AudioTarget, track: AudioTrack, input: SoundFormat, making content: SegmentContent,
        at place: SegmentPlace, lasting length: Rational?
    ) throws(ReelFailure) {
        let clock = TimeBase(1, Int64(target.sampleRate))
        wanted = length.map { clock.ticks(in: $0, rounding: .nearest) }
        (self.content, token, self.clock, self.input) = (content, place.name.token, clock, input)
        channels = try input.channels()
        packet = try Packet()
        encoder = try Encoder(target, track: track)
        writer = try SegmentWriter(at: place, timeBase: clock, describe: encoder.describe)
        let output = SoundFormat(sample: encoder.sampleFormat, rate: target.sampleRate, layout: target.channelLayout)
        resampler = try Resampler(from: input, to: output)
    }

    /// Samples per channel in each frame for the encoder.
    private var frameSize: Int { encoder.frameSize > 0 ? encoder.frameSize : Self.block }

    /// Encodes a sound to its end, or a crossfade of two that are equally long, from the first to the second. Calls
    /// `progress` for each block of samples.
    func encode(
        _ sounds: [SpanCursor], crossfade: SoundEdit.Crossfade?, progress: () -> Void
    ) throws(ReelFailure) {
        guard var sound = sounds.first else { return }
        var rising = sounds.dropFirst().first
        let mix = crossfade == nil ? nil : try mixer(of: input.sample)
        let frameBytes = channels * Int(av_get_bytes_per_sample(input.sample))
        let more = UnsafeMutableRawPointer.allocate(byteCount: Self.block * frameBytes, alignment: 16)
        defer { more.deallocate() }
        var done = 0
        while done < sound.count {
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
            while resampler.ready >= frameSize { try encodeFrame() }
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
            guard packet.size > 0 else { continue }
            trailingPadding = packet.skippedSamples.end
            try writer.write(packet, offset: Int64(encoder.initialPadding))
        }
    }

    /// Encodes the samples that are left, and silence if they are fewer than the sound lasts.
    func drain() throws(ReelFailure) {
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
        try writer.finish(
            SegmentRecord(
                content: content, clip: 0, token: token, frames: Int(encoded), packets: 0, bytes: 0, checksum: "",
                timeBase: clock, reorderDepth: 0, extradataHash: encoder.extradataHash,
                initialPadding: encoder.initialPadding, trailingPadding: trailingPadding, start: start,
                diagnostics: diagnostics))
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
