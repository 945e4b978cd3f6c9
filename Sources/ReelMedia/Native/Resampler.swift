internal import CFFmpeg
internal import ReelCore

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
        let planes = UnsafeMutableRawPointer(block.native.pointee.extended_data)
        let native = block.native.pointee
        try check(
            av_samples_set_silence(
                native.extended_data, 0, Int32(samples), native.ch_layout.nb_channels, AVSampleFormat(native.format)),
            .convertSamples)
        try check(
            av_audio_fifo_write(queue, planes?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self), Int32(samples)),
            .convertSamples)
    }

    /// Ends the input: all that was pushed in becomes ready.
    func finish() throws(ReelFailure) { try convert(nil, count: 0) }

    private func convert(_ planes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: Int32) throws(ReelFailure) {
        let room = try check(swr_get_out_samples(native, count), .convertSamples)
        let block = try output.frame(max(Int(room), 1))
        let converted = swr_convert(native, block.native.pointee.extended_data, max(room, 1), planes, count)
        try check(converted, .convertSamples)
        let bytes = UnsafeMutableRawPointer(block.native.pointee.extended_data)
        try check(
            av_audio_fifo_write(queue, bytes?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self), converted),
            .convertSamples)
    }

    /// The next `samples` samples per channel, or as many as are ready.
    func pull(_ samples: Int) throws(ReelFailure) -> Frame {
        let count = min(samples, ready)
        let block = try output.frame(max(count, 1))
        let bytes = UnsafeMutableRawPointer(block.native.pointee.extended_data)
        try check(
            av_audio_fifo_read(queue, bytes?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self), Int32(count)),
            .convertSamples)
        block.native.pointee.nb_samples = Int32(count)
        return block
    }
}
