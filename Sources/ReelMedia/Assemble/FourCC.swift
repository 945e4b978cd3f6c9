internal import CFFmpeg
internal import ReelCore

extension Container {
    /// The FourCC to pass to the muxer for a stream that an encoder described; 0 leaves the choice to the muxer.
    func fourCC(of encoded: AVCodecParameters) -> UInt32 {
        switch encoded.codec_id {
        // QuickTime and Apple's players recognise HEVC by this one.
        case AV_CODEC_ID_HEVC where isQuickTime: UInt32(fourCC: "hvc1")
        // The FourCC states the pixel format, or the profile.
        case AV_CODEC_ID_RAWVIDEO, AV_CODEC_ID_PRORES:
            muxerFourCC(encoded.codec_tag, of: encoded.codec_id, muxer: traits.muxer)
        default: 0
        }
    }
}

/// The FourCC if the muxer uses it for that codec, or has none of its own for the codec; else 0.
func muxerFourCC(_ fourCC: UInt32, of codec: AVCodecID, muxer: String) -> UInt32 {
    guard let tables = av_guess_format(muxer, nil, nil)?.pointee.codec_tag else { return fourCC }
    var own: UInt32 = 0
    let isKnown = av_codec_get_id(tables, fourCC) == codec || av_codec_get_tag2(tables, codec, &own) == 0
    return isKnown ? fourCC : 0
}
