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
    /// The codec's profile as libavcodec numbers it.
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
