internal import CFFmpeg
internal import ReelCore

/// A chain of libavfilter's filters with one output and one input, or a palette beside that.
final class FilterGraph {
    private var graph: UnsafeMutablePointer<AVFilterGraph>?
    private let source: UnsafeMutablePointer<AVFilterContext>
    /// The input of the palette, if there is one.
    private var second: UnsafeMutablePointer<AVFilterContext>?
    private let sink: UnsafeMutablePointer<AVFilterContext>
    private let step: MediaStep

    /// Whether this FFmpeg has the filters that map high dynamic range to the standard one.
    static let mapsTones = avfilter_get_by_name("zscale") != nil && avfilter_get_by_name("tonemap") != nil

    /// A chain for pictures of one size and format; `chain` has the filters as the `-vf` of ffmpeg takes them.
    convenience init(pictures chain: String, width: Int, height: Int, format: AVPixelFormat) throws(ReelFailure) {
        try self.init(chain, from: "buffer", to: "buffersink", form: Self.form(width, height, format), .convertPicture)
    }

    /// The same with a second input, named "palette", which has this one picture.
    convenience init(
        pictures chain: String, width: Int, height: Int, format: AVPixelFormat, palette: borrowing Frame
    ) throws(ReelFailure) {
        try self.init(
            chain, from: "buffer", to: "buffersink", form: Self.form(width, height, format),
            palette: Self.form(palette.width, palette.height, palette.pixelFormat), .convertPicture)
        guard let second else { return }
        palette.pts = Timestamp(0)
        try check(av_buffersrc_add_frame_flags(second, palette.native, Int32(AV_BUFFERSRC_FLAG_KEEP_REF)), step)
        try check(av_buffersrc_add_frame_flags(second, nil, 0), step)
    }

    private static func form(_ width: Int, _ height: Int, _ format: AVPixelFormat) -> String {
        "video_size=\(width)x\(height):pix_fmt=\(format.rawValue):time_base=1/1000000"
    }

    /// A chain for sound of one format; `chain` has the filters as the `-af` of ffmpeg takes them.
    convenience init(sound chain: String, format: SoundFormat) throws(ReelFailure) {
        let sample = known(av_get_sample_fmt_name(format.sample)) ?? ""
        try self.init(
            chain, from: "abuffer", to: "abuffersink",
            form: "sample_rate=\(format.rate):sample_fmt=\(sample):channel_layout=\(format.layout)"
                + ":time_base=1/\(format.rate)", .convertSamples)
    }

    private init(
        _ chain: String, from input: String, to output: String, form: String, palette: String? = nil, _ step: MediaStep
    ) throws(ReelFailure) {
        self.step = step
        let graph = try allocated(avfilter_graph_alloc(), step)
        var owned: UnsafeMutablePointer<AVFilterGraph>? = graph
        var (inputs, outputs) = (avfilter_inout_alloc(), avfilter_inout_alloc())
        defer {
            avfilter_inout_free(&inputs)
            avfilter_inout_free(&outputs)
        }
        do throws(ReelFailure) {
            graph.pointee.nb_threads = 1
            var (first, last): (UnsafeMutablePointer<AVFilterContext>?, UnsafeMutablePointer<AVFilterContext>?)
            try check(
                avfilter_graph_create_filter(&first, avfilter_get_by_name(input), "in", form, nil, graph), step, form)
            var other: UnsafeMutablePointer<AVFilterContext>?
            if let palette {
                try check(
                    avfilter_graph_create_filter(
                        &other, avfilter_get_by_name(input), "palette", palette, nil, graph), step, palette)
                let feed = try allocated(avfilter_inout_alloc(), step)
                (feed.pointee.name, feed.pointee.filter_ctx) = (av_strdup("palette"), other)
                outputs?.pointee.next = feed
            }
            second = other
            try check(avfilter_graph_create_filter(&last, avfilter_get_by_name(output), "out", nil, nil, graph), step)
            source = try allocated(first, step)
            sink = try allocated(last, step)
            // What the chain's open ends are joined to: its input to the source's output, its output to the sink's input.
            let (feeds, takes) = (try allocated(outputs, step), try allocated(inputs, step))
            (feeds.pointee.name, feeds.pointee.filter_ctx) = (av_strdup("in"), source)
            (takes.pointee.name, takes.pointee.filter_ctx) = (av_strdup("out"), sink)
            try check(avfilter_graph_parse_ptr(graph, chain, &inputs, &outputs, nil), step, chain)
            try check(avfilter_graph_config(graph, nil), step, chain)
        } catch {
            avfilter_graph_free(&owned)
            throw error
        }
        self.graph = graph
    }

    deinit { avfilter_graph_free(&graph) }

    /// Gives the chain another picture or block of samples, which stays the caller's.
    func push(_ frame: borrowing Frame) throws(ReelFailure) {
        try check(av_buffersrc_add_frame_flags(source, frame.native, Int32(AV_BUFFERSRC_FLAG_KEEP_REF)), step)
    }

    func finish() throws(ReelFailure) { try check(av_buffersrc_add_frame_flags(source, nil, 0), step) }

    /// Fills the frame with what the chain gives next. Returns false if it needs more input, or has ended.
    func pull(into frame: borrowing Frame) throws(ReelFailure) -> Bool {
        frame.reset()
        let code = av_buffersink_get_frame(sink, frame.native)
        guard code != reel_error_again, code != reel_error_eof else { return false }
        try check(code, step)
        return true
    }
}

/// The format of samples: their type and place in memory, their rate and channels.
struct SoundFormat: Hashable {
    var sample: AVSampleFormat
    /// Samples per second of each channel.
    var rate: Int
    /// The channel layout as libavutil names it: "stereo", "5.1(side)".
    var layout: String

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

extension AudioTrack {
    /// The format that the decoder gives. Throws `.input` if libavutil does not know it.
    func format() throws(ReelFailure) -> SoundFormat {
        let sample = av_get_sample_fmt(sampleFormat)
        guard sample != AV_SAMPLE_FMT_NONE else { throw mediaFailure(reel_error_invalid_data, .convertSamples) }
        return SoundFormat(sample: sample, rate: sampleRate, layout: channelLayout)
    }
}

extension SoundFormat {
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
