internal import CFFmpeg
internal import ReelCore

/// The format of samples: their type and place in memory, their rate and channels.
struct SoundFormat: Hashable {
    var sample: AVSampleFormat
    /// Samples per second of each channel.
    var rate: Int
    /// The channel layout as libavutil names it: "stereo", "5.1(side)".
    var layout: String

    /// This format with interleaved channels.
    var packed: SoundFormat { SoundFormat(sample: av_get_packed_sample_fmt(sample), rate: rate, layout: layout) }

    func nativeLayout() throws(ReelFailure) -> AVChannelLayout {
        var native = AVChannelLayout()
        try check(av_channel_layout_from_string(&native, layout), .layOutChannels, layout)
        return native
    }

    func channels() throws(ReelFailure) -> Int { Int(try nativeLayout().nb_channels) }

    /// Whether the layout is called so by libavutil. It takes masks and lists of channels, too, which few encoders
    /// know.
    var isNamed: Bool {
        guard let native = try? nativeLayout() else { return false }
        return layoutName(native) == layout && !layout.contains(where: { "+ ".contains($0) })
    }

    /// Allocates a block with room for `samples` samples of each channel.
    func frame(_ samples: Int) throws(ReelFailure) -> Frame {
        let frame = try Frame()
        frame.native.pointee.format = sample.rawValue
        frame.native.pointee.sample_rate = Int32(rate)
        frame.native.pointee.nb_samples = Int32(samples)
        frame.native.pointee.ch_layout = try nativeLayout()
        try check(av_frame_get_buffer(frame.native, 0), .convertSamples)
        return frame
    }
}

extension SoundFormat {
    /// The format of a decoded block.
    init(of frame: borrowing Frame) {
        sample = AVSampleFormat(frame.native.pointee.format)
        rate = Int(frame.native.pointee.sample_rate)
        layout = layoutName(frame.native.pointee.ch_layout)
    }
}

extension Frame {
    /// The samples, channel by channel, or interleaved in one place.
    fileprivate var planes: UnsafeMutablePointer<UnsafeMutableRawPointer?>? {
        UnsafeMutableRawPointer(native.pointee.extended_data)?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }
}

/// Converts samples to another format. Samples are pushed in, and pulled out in blocks of any size. The first sample
/// out has the time of the first sample in.
final class Resampler {
    let output: SoundFormat
    private let inputRate: Int
    private var native: OpaquePointer?
    private let queue: OpaquePointer

    init(from input: SoundFormat, to output: SoundFormat) throws(ReelFailure) {
        self.output = output
        inputRate = input.rate
        var (from, to) = (try input.nativeLayout(), try output.nativeLayout())
        guard let queue = av_audio_fifo_alloc(output.sample, to.nb_channels, 4096) else {
            throw mediaFailure(reel_error_no_memory, .convertSamples)
        }
        self.queue = queue
        try check(
            swr_alloc_set_opts2(
                &native, &to, output.sample, Int32(output.rate), &from, input.sample, Int32(input.rate), 0, nil),
            .convertSamples)
        try check(swr_init(native), .convertSamples)
    }

    deinit {
        swr_free(&native)
        av_audio_fifo_free(queue)
    }

    /// The number of samples per channel that can be pulled out.
    var ready: Int { Int(av_audio_fifo_size(queue)) }

    /// The length of the sound that was pushed in and is not ready yet, in seconds.
    var pending: Rational { Rational(swr_get_delay(native, Int64(inputRate)), Int64(inputRate)) }

    func push(_ frame: borrowing Frame) throws(ReelFailure) {
        let planes = frame.native.pointee.extended_data.map {
            UnsafeMutableRawPointer($0).assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
        }
        try convert(planes, count: frame.native.pointee.nb_samples)
    }

    /// Adds silence to what is ready, after the input has ended; in samples per channel of the output.
    func pushSilence(_ samples: Int) throws(ReelFailure) {
        let block = try output.frame(samples)
        let native = block.native.pointee
        try check(
            av_samples_set_silence(
                native.extended_data, 0, Int32(samples), native.ch_layout.nb_channels, AVSampleFormat(native.format)),
            .convertSamples)
        try check(av_audio_fifo_write(queue, block.planes, Int32(samples)), .convertSamples)
    }

    /// Ends the input: all that was pushed in becomes ready.
    func finish() throws(ReelFailure) { try convert(nil, count: 0) }

    private func convert(_ planes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: Int32) throws(ReelFailure) {
        let room = try check(swr_get_out_samples(native, count), .convertSamples)
        let block = try output.frame(max(Int(room), 1))
        let converted = swr_convert(native, block.native.pointee.extended_data, max(room, 1), planes, count)
        try check(converted, .convertSamples)
        try check(av_audio_fifo_write(queue, block.planes, converted), .convertSamples)
    }

    /// The next `samples` samples per channel, or as many as are ready.
    func pull(_ samples: Int) throws(ReelFailure) -> Frame {
        let count = min(samples, ready)
        let block = try output.frame(max(count, 1))
        try check(av_audio_fifo_read(queue, block.planes, Int32(count)), .convertSamples)
        block.native.pointee.nb_samples = Int32(count)
        return block
    }
}
