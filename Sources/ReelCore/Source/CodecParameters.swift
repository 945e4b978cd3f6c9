/// What a container must know of a stream to hold its packets as they are: libavcodec's AVCodecParameters, as far as
/// packets of sound need them.
public struct CodecParameters: Hashable, Codable, Sendable {
    /// The decoder's set-up data, in hexadecimal.
    public var extradata: String
    /// Samples per channel of each packet; 0 where that varies.
    public var frameSize: Int
    public var blockAlign: Int
    public var bitrate: Int64
    public var profile: Int
    public var bitsPerCodedSample: Int
    public var bitsPerRawSample: Int
    /// Samples that a decoder must be given before those that are to be right.
    public var seekPreroll: Int

    public init(
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

    public enum CodingKeys: String, CodingKey {
        case extradata = "extradata"
        case frameSize = "frameSize"
        case blockAlign = "blockAlign"
        case bitrate = "bitrate"
        case profile = "profile"
        case bitsPerCodedSample = "bitsPerCodedSample"
        case bitsPerRawSample = "bitsPerRawSample"
        case seekPreroll = "seekPreroll"
    }
}
