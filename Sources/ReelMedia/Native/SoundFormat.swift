internal import CFFmpeg
internal import ReelCore

/// The format of samples: their type and place in memory, their rate and channels.
struct SoundFormat: Hashable {
    var sample: AVSampleFormat
    /// Samples per second of each channel.
    var rate: Int
    /// The channel layout as libavutil names it: "stereo", "5.1(side)".
    var layout: String

    init(sample: AVSampleFormat, rate: Int, layout: String) {
        self.sample = sample
        self.rate = rate
        self.layout = layout
    }

    /// The format of a decoded block.
    init(of frame: borrowing Frame) {
        sample = AVSampleFormat(frame.native.pointee.format)
        rate = Int(frame.native.pointee.sample_rate)
        layout = layoutName(&frame.native.pointee.ch_layout)
    }

    /// This format with interleaved channels.
    var packed: SoundFormat { SoundFormat(sample: av_get_packed_sample_fmt(sample), rate: rate, layout: layout) }

    func nativeLayout() throws(ReelFailure) -> AVChannelLayout {
        var native = AVChannelLayout()
        try check(av_channel_layout_from_string(&native, layout), .layOutChannels, layout)
        return native
    }

    func channels() throws(ReelFailure) -> Int { Int(try nativeLayout().nb_channels) }

    /// Whether the layout is called so by libavutil. It takes masks and lists of channels, too, which few encoders know.
    var isNamed: Bool {
        guard var native = try? nativeLayout() else { return false }
        return layoutName(&native) == layout && !layout.contains(where: { "+ ".contains($0) })
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
