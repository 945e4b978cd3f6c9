/// An audio track of the source.
package struct AudioTrack: Hashable, Codable, Sendable {
    /// The stream's index in the file.
    package var index: Int
    /// The codec's name as FFmpeg spells it, for example "aac".
    package var codec: String
    /// Samples per second, for each channel.
    package var sampleRate: Int
    /// The number of channels.
    package var channels: Int
    /// The channel layout as libavutil describes it: "stereo", "5.1(side)".
    package var channelLayout: String
    /// The decoder's sample format, for example "fltp".
    package var sampleFormat: String
    /// Significant bits of each sample if the codec states them: 24 in samples of 32 bits.
    package var bitsPerSample: Int?
    /// The codec's profile as FFmpeg spells it; nil if there is none.
    package var profile: String?
    /// The unit of the stream's timestamps.
    package var timeBase: TimeBase
    /// From the time of the first packet to the end of the last, as the container states them. What is really heard is
    /// known only after decoding.
    package var span: Interval
    /// Bytes of payload.
    package var bytes: Int64
    /// Parameters with which a container stores the packets.
    package var parameters: CodecParameters
    /// Language, title and dispositions.
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
