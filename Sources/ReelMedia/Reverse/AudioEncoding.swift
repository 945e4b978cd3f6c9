internal import CFFmpeg
internal import ReelCore

/// Encodes sound continuously into one segment.
final class AudioEncoding {
    private let target: AudioTarget
    private let content: SegmentContent
    private let token: String
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
        wanted = length.map { TimeBase(1, Int64(target.sampleRate)).ticks(in: $0, rounding: .nearest) }
        self.target = target
        self.content = content
        token = place.name.token
        self.input = input
        channels = try input.channels()
        packet = try Packet()
        encoder = try Encoder(target, track: track)
        writer = try SegmentWriter(
            at: place, timeBase: TimeBase(1, Int64(target.sampleRate)), describe: encoder.describe)
        let output = SoundFormat(sample: encoder.sampleFormat, rate: target.sampleRate, layout: target.channelLayout)
        resampler = try Resampler(from: input, to: output)
    }

    /// Samples per channel in each frame for the encoder.
    private var frameSize: Int { encoder.frameSize > 0 ? encoder.frameSize : Self.block }

    /// Encodes sound to its end. Calls `progress` for each block of samples.
    func encode(_ sound: SpanCursor, progress: () -> Void) throws(ReelFailure) {
        var sound = sound
        try inBlocks(sound.count) { (samples, room) throws(ReelFailure) in
            try sound.read(samples, into: room)
            progress()
        }
    }

    /// Encodes a crossfade of two sounds of equal length. Calls `progress` for each block of samples.
    func encode(
        _ falling: SpanCursor, to rising: SpanCursor, _ crossfade: SoundEdit.Crossfade, progress: () -> Void
    ) throws(ReelFailure) {
        var (falling, rising) = (falling, rising)
        let mixer = try SampleMixer(input.sample, channels: channels)
        var done = 0
        let frameBytes = channels * Int(av_get_bytes_per_sample(input.sample))
        let more = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.block * frameBytes, alignment: 16)
        defer { more.deallocate() }
        guard let other = more.baseAddress else { return }
        try inBlocks(falling.count) { (samples, room) throws(ReelFailure) in
            try falling.read(samples, into: room)
            try rising.read(samples, into: other)
            mixer.mix(other, into: room, samples) { crossfade.share + Double(done + $0) * crossfade.growth }
            done += samples
            progress()
        }
    }

    private func inBlocks(
        _ count: Int64, _ fill: (_ samples: Int, _ room: UnsafeMutableRawPointer) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        var done: Int64 = 0
        while done < count {
            let samples = Int(min(Int64(Self.block), count - done))
            let frame = try input.frame(samples)
            guard let room = frame.native.pointee.data.0 else { return }
            try fill(samples, room)
            try resampler.push(frame)
            while resampler.ready >= frameSize { try encodeFrame() }
            done += Int64(samples)
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

    /// Closes the segment. Its first audible sample is heard at `start` in the output; `diagnostics` report what went
    /// wrong.
    func finish(start: Int64, diagnostics: [Diagnostic]) throws(ReelFailure) -> SegmentRecord {
        try writer.finish(
            SegmentRecord(
                content: content, clip: 0, token: token, frames: Int(encoded), packets: 0, bytes: 0,
                checksum: "",
                timeBase: TimeBase(1, Int64(target.sampleRate)), reorderDepth: 0,
                extradataHash: encoder.extradataHash, initialPadding: encoder.initialPadding,
                trailingPadding: trailingPadding, start: start, diagnostics: diagnostics))
    }
}
