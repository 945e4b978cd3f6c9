internal import CFFmpeg
internal import ReelCore

extension Container {
    /// The tag by which the muxer is told of a stream that an encoder described; 0 leaves it the choice.
    func tag(of encoded: AVCodecParameters) -> UInt32 {
        switch encoded.codec_id {
        // QuickTime and Apple's players know HEVC by this one.
        case AV_CODEC_ID_HEVC where isQuickTime: codecTag("hvc1")
        // It says the pixel format, or the profile.
        case AV_CODEC_ID_RAWVIDEO, AV_CODEC_ID_PRORES:
            muxerTag(encoded.codec_tag, of: encoded.codec_id, muxer: traits.muxer)
        default: 0
        }
    }
}

/// A tag where the muxer means that codec by it, or has none of its own for the codec; else 0.
func muxerTag(_ tag: UInt32, of codec: AVCodecID, muxer: String) -> UInt32 {
    guard let tables = av_guess_format(muxer, nil, nil)?.pointee.codec_tag else { return tag }
    var own: UInt32 = 0
    let isKnown = av_codec_get_id(tables, tag) == codec || av_codec_get_tag2(tables, codec, &own) == 0
    return isKnown ? tag : 0
}
