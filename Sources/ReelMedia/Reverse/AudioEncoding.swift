internal import CFFmpeg
internal import ReelCore

/// Encodes reversed samples, continuously, into one segment.
final class AudioEncoding {
    private let encoder: Encoder
    private let writer: SegmentWriter
    private let spill: SampleSpill
    private let packed: AVSampleFormat
    private var resampler: OpaquePointer?
    private var sourceLayout = AVChannelLayout()
    private let sourceRate: Int
    private var encoded: Int64 = 0
    private let packet: Packet
    private let clock: TimeBase

    /// Samples that are read back at a time.
    private static let block = 1024

    init(
        target: AudioTarget, source: AudioDecoding, channels: String, sourceRate: Int, folder: String, name: String
    ) throws(ReelFailure) {
        spill = source.spill
        packed = av_get_packed_sample_fmt(source.format)
        self.sourceRate = sourceRate
        clock = TimeBase(1, Int64(target.sampleRate))
        packet = try Packet()
        encoder = try Encoder(target, source: source.format)
        writer = try SegmentWriter(folder: folder, name: name, timeBase: clock, describe: encoder.describe)
        try check(av_channel_layout_from_string(&sourceLayout, channels), "the channel layout \(channels)")
        var layout = encoder.channelLayout
        try check(
            swr_alloc_set_opts2(
                &resampler, &layout, encoder.sampleFormat, Int32(encoder.sampleRate), &sourceLayout, packed,
                Int32(sourceRate), 0, nil), "converting samples")
        try check(swr_init(resampler), "converting samples from \(channels)")
    }

    deinit { swr_free(&resampler) }

    /// Samples per channel of each frame that the encoder gets.
    private var frameSize: Int { encoder.frameSize > 0 ? encoder.frameSize : Self.block }

    /// Encodes a stretch of the backwards timeline. `progress` hears how many samples went into the encoder.
    func encode(_ stretch: AudioTimeline.Stretch, progress: (Int) -> Void) throws(ReelFailure) {
        switch stretch {
        case .silence(let count):
            try inBlocks(count) { (frame, _, samples) throws(ReelFailure) in
                let channels = Int32(spill.channels)
                try check(
                    av_samples_set_silence(frame.native.pointee.extended_data, 0, Int32(samples), channels, packed),
                    "making silence")
                progress(Int(encoded))
            }
        case .sound(let sample, let count):
            try inBlocks(count) { (frame, done, samples) throws(ReelFailure) in
                guard let target = frame.native.pointee.data.0 else { return }
                try spill.readBackwards(sample: sample + count - done - Int64(samples), count: samples, into: target)
                progress(Int(encoded))
            }
        }
    }

    private func inBlocks(
        _ count: Int64, _ fill: (borrowing Frame, _ done: Int64, _ samples: Int) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        var done: Int64 = 0
        while done < count {
            let samples = Int(min(Int64(Self.block), count - done))
            let frame = try Frame()
            try shape(frame, packed, &sourceLayout, sourceRate, samples)
            try fill(frame, done, samples)
            try check(swr_convert_frame(resampler, nil, frame.native), "converting samples")
            try encodeWhatIsReady(all: false)
            done += Int64(samples)
        }
    }

    private func shape(
        _ frame: borrowing Frame, _ format: AVSampleFormat, _ layout: inout AVChannelLayout, _ rate: Int, _ samples: Int
    ) throws(ReelFailure) {
        frame.native.pointee.format = format.rawValue
        frame.native.pointee.sample_rate = Int32(rate)
        frame.native.pointee.nb_samples = Int32(samples)
        try check(av_channel_layout_copy(&frame.native.pointee.ch_layout, &layout), "shaping samples")
        try check(av_frame_get_buffer(frame.native, 0), "shaping samples")
    }

    /// Frames of the encoder's own size, and with `all` the shorter last one.
    private func encodeWhatIsReady(all: Bool) throws(ReelFailure) {
        var layout = encoder.channelLayout
        while true {
            let delay = swr_get_delay(resampler, Int64(encoder.sampleRate))
            guard all ? delay > 0 : delay >= Int64(frameSize) else { return }
            let frame = try Frame()
            try shape(frame, encoder.sampleFormat, &layout, encoder.sampleRate, frameSize)
            try check(swr_convert_frame(resampler, frame.native, nil), "converting samples")
            guard frame.sampleCount > 0 else { return }
            frame.pts = Timestamp(encoded)
            encoded += Int64(frame.sampleCount)
            try encoder.send(frame)
            try writePackets()
        }
    }

    private func writePackets() throws(ReelFailure) {
        while try encoder.receive(into: packet) {
            // FLAC's last packet carries nothing but a new header.
            guard packet.size > 0 else { continue }
            try writer.write(packet, offset: Int64(encoder.initialPadding))
        }
    }

    /// Encodes what is left.
    func drain() throws(ReelFailure) {
        try encodeWhatIsReady(all: true)
        try encoder.finish()
        try writePackets()
    }

    /// Closes the segment, whose first heard sample lies at `start` in the output.
    func finish(pass: Int, start: Int64) throws(ReelFailure) -> SegmentRecord {
        try writer.finish(
            SegmentRecord(
                name: "", pass: pass, run: 0, frames: Int(encoded), packets: 0, bytes: 0, checksum: "",
                timeBase: clock, reorderDepth: 0, extradataHash: encoder.extradataHash,
                initialPadding: encoder.initialPadding, start: start))
    }
}
