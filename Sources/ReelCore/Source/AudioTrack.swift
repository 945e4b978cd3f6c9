package struct AudioTrack: Hashable, Codable, Sendable {
    package var index: Int
    /// The codec's name as FFmpeg spells it, for example "aac".
    package var codec: String
    package var sampleRate: Int
    package var channels: Int
    /// The channel layout as libavutil describes it: "stereo", "5.1(side)".
    package var channelLayout: String
    /// The decoder's sample format, for example "fltp".
    package var sampleFormat: String
    /// Significant bits of each sample if the codec states them: 24 in samples of 32 bits.
    package var bitsPerSample: Int?
    package var profile: String?
    package var timeBase: TimeBase
    /// From the time of the first packet to the end of the last, as the container states them. What is really heard is
    /// known only after decoding.
    package var span: Interval
    package var bytes: Int64
    package var parameters: CodecParameters
    package var details: TrackDetails

    package init(
        index: Int, codec: String, sampleRate: Int, channels: Int, channelLayout: String, sampleFormat: String,
        bitsPerSample: Int? = nil, profile: String? = nil, timeBase: TimeBase, span: Interval, bytes: Int64,
        parameters: CodecParameters = CodecParameters(), details: TrackDetails
    ) {
        self.index = index
        self.codec = codec
        self.sampleRate = sampleRate
        self.channels = channels
        self.channelLayout = channelLayout
        self.sampleFormat = sampleFormat
        self.bitsPerSample = bitsPerSample
        self.profile = profile
        self.timeBase = timeBase
        self.span = span
        self.bytes = bytes
        self.parameters = parameters
        self.details = details
    }
}

/// The parameters with which a container stores a stream's packets unchanged: the part of libavcodec's
/// AVCodecParameters that audio packets need.
package struct CodecParameters: Hashable, Codable, Sendable {
    /// The decoder's set-up data, in hexadecimal; may be empty.
    package var extradata: String
    /// Samples per channel in each packet; 0 if it varies.
    package var frameSize: Int
    /// Bytes of a block of samples in the container (AVCodecParameters.block_align); 0 if unspecified.
    package var blockAlign: Int
    /// Bits per second on average; 0 if unknown.
    package var bitrate: Int64
    package var profile: Int
    /// Bits per sample as coded; 0 if unspecified.
    package var bitsPerCodedSample: Int
    /// Significant bits per sample; 0 if unspecified.
    package var bitsPerRawSample: Int
    /// Samples that a decoder must get before its output is correct.
    package var seekPreroll: Int

    package init(
        extradata: String = "", frameSize: Int = 0, blockAlign: Int = 0, bitrate: Int64 = 0, profile: Int = -99,
        bitsPerCodedSample: Int = 0, bitsPerRawSample: Int = 0, seekPreroll: Int = 0
    ) {
        self.extradata = extradata
        self.frameSize = frameSize
        self.blockAlign = blockAlign
        self.bitrate = bitrate
        self.profile = profile
        self.bitsPerCodedSample = bitsPerCodedSample
        self.bitsPerRawSample = bitsPerRawSample
        self.seekPreroll = seekPreroll
    }
}
