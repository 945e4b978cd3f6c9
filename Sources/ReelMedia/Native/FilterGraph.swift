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

    /// Ends the input.
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
