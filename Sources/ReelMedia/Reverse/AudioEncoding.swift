internal import CFFmpeg
internal import ReelCore

/// Encodes decoded samples of one track continuously into one segment, in any order and direction.
final class AudioEncoding {
    private let target: AudioTarget
    private let content: SegmentContent
    private let token: String
    private let encoder: Encoder
    private let writer: SegmentWriter
    private let spill: SampleSpill
    private let input: SoundFormat
    private let resampler: Resampler
    private var encoded: Int64 = 0
    private var trailingPadding = 0
    private let packet: Packet

    /// Samples read back from the spill at a time.
    private static let block = 1024

    init(
        target: AudioTarget, track: AudioTrack, source: AudioDecoding, making content: SegmentContent,
        at place: SegmentPlace
    ) throws(ReelFailure) {
        self.target = target
        self.content = content
        token = place.name.token
        spill = source.spill
        input = source.format
        packet = try Packet()
        encoder = try Encoder(target, track: track)
        writer = try SegmentWriter(
            at: place, timeBase: TimeBase(1, Int64(target.sampleRate)), describe: encoder.describe)
        let output = SoundFormat(sample: encoder.sampleFormat, rate: target.sampleRate, layout: target.channelLayout)
        resampler = try Resampler(from: input, to: output)
    }

    /// Samples per channel in each frame for the encoder.
    private var frameSize: Int { encoder.frameSize > 0 ? encoder.frameSize : Self.block }

    /// Encodes spans of the timeline in a direction. Calls `progress` for each block of samples.
    func encode(
        _ spans: [AudioTimeline.Span], _ direction: Direction, progress: () -> Void
    ) throws(ReelFailure) {
        var cursor = SpanCursor(spans, direction, of: spill)
        try inBlocks(cursor.count) { (samples, room) throws(ReelFailure) in
            try cursor.read(samples, into: room)
            progress()
        }
    }

    /// Encodes a crossfade of two sounds of equal length. Calls `progress` for each block of samples.
    ///
    /// - Parameters:
    ///   - share: the share of `rising` in the first sample, from 0 to 1.
    ///   - growth: by how much that grows with each sample.
    func encode(
        _ falling: SpanCursor, to rising: SpanCursor, share: Double, growth: Double, progress: () -> Void
    ) throws(ReelFailure) {
        var (falling, rising) = (falling, rising)
        let mixer = try SampleMixer(input.sample, channels: spill.channels)
        var done = 0
        let more = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.block * spill.frameBytes, alignment: 16)
        defer { more.deallocate() }
        guard let other = more.baseAddress else { return }
        try inBlocks(falling.count) { (samples, room) throws(ReelFailure) in
            try falling.read(samples, into: room)
            try rising.read(samples, into: other)
            mixer.mix(other, into: room, samples) { share + Double(done + $0) * growth }
            done += samples
            progress()
        }
    }

    /// A cursor over spans of the decoded samples, in a direction.
    func cursor(_ spans: [AudioTimeline.Span], _ direction: Direction) -> SpanCursor {
        SpanCursor(spans, direction, of: spill)
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

    /// Encodes the samples that are left.
    func drain() throws(ReelFailure) {
        try resampler.finish()
        while resampler.ready > 0 { try encodeFrame() }
        try encoder.finish()
        try writePackets()
    }

    /// Closes the segment. Its first audible sample is heard at `start` in the output; `diagnostics` report what went
    /// wrong.
    func finish(start: Int64, diagnostics: [Diagnostic]) throws(ReelFailure) -> SegmentRecord {
        try writer.finish(
            SegmentRecord(
                content: content, clip: target.clip, token: token, frames: Int(encoded), packets: 0, bytes: 0,
                checksum: "",
                timeBase: TimeBase(1, Int64(target.sampleRate)), reorderDepth: 0,
                extradataHash: encoder.extradataHash, initialPadding: encoder.initialPadding,
                trailingPadding: trailingPadding, start: start, diagnostics: diagnostics))
    }
}
