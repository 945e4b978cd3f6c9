internal import CFFmpeg
internal import ReelCore

/// Encodes decoded samples of one track, backwards or forwards, continuously into one segment.
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

    /// Encodes a span of the timeline. Calls `progress` for each block of samples.
    func encode(_ span: AudioTimeline.Span, progress: () -> Void) throws(ReelFailure) {
        switch span {
        case .silence(let count):
            let channels = Int32(spill.channels)
            try inBlocks(count) { (frame, _, samples) throws(ReelFailure) in
                try check(
                    av_samples_set_silence(
                        frame.native.pointee.extended_data, 0, Int32(samples), channels, input.sample),
                    .convertSamples)
                progress()
            }
        case .sound(let sample, let count):
            try inBlocks(count) { (frame, done, samples) throws(ReelFailure) in
                guard let room = frame.native.pointee.data.0 else { return }
                if target.direction == .backwards {
                    try spill.readBackwards(sample: sample + count - done - Int64(samples), count: samples, into: room)
                } else {
                    try spill.read(sample: sample + done, count: samples, into: room)
                }
                progress()
            }
        }
    }

    private func inBlocks(
        _ count: Int64, _ fill: (borrowing Frame, _ done: Int64, _ samples: Int) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        var done: Int64 = 0
        while done < count {
            let samples = Int(min(Int64(Self.block), count - done))
            let frame = try input.frame(samples)
            try fill(frame, done, samples)
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
