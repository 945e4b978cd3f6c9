internal import CFFmpeg
internal import ReelCore

extension Container {
    /// The codec tag to pass to the muxer for a stream that an encoder described; 0 leaves the choice to the muxer.
    func tag(of encoded: AVCodecParameters) -> UInt32 {
        switch encoded.codec_id {
        // QuickTime and Apple's players recognise HEVC by this tag.
        case AV_CODEC_ID_HEVC where isQuickTime: codecTag("hvc1")
        // The tag states the pixel format, or the profile.
        case AV_CODEC_ID_RAWVIDEO, AV_CODEC_ID_PRORES:
            muxerTag(encoded.codec_tag, of: encoded.codec_id, muxer: traits.muxer)
        default: 0
        }
    }
}

/// The tag if the muxer uses it for that codec, or has no tag of its own for the codec; else 0.
func muxerTag(_ tag: UInt32, of codec: AVCodecID, muxer: String) -> UInt32 {
    guard let tables = av_guess_format(muxer, nil, nil)?.pointee.codec_tag else { return tag }
    var own: UInt32 = 0
    let isKnown = av_codec_get_id(tables, tag) == codec || av_codec_get_tag2(tables, codec, &own) == 0
    return isKnown ? tag : 0
}
