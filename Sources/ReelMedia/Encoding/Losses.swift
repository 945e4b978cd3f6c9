internal import CFFmpeg
internal import ReelCore

/// What stands beside pictures and has no way into the output: a plain line for each.
enum Losses {
    /// Kinds of the decoder's side data whose loss a person may care about.
    private static let kinds: [(kind: AVFrameSideDataType, line: String)] = [
        (AV_FRAME_DATA_A53_CC, "the closed captions in the pictures are left out"),
        (AV_FRAME_DATA_AFD, "the active format description in the pictures is left out"),
        (AV_FRAME_DATA_S12M_TIMECODE, "the timecodes in the pictures are left out: they would run backwards"),
        (
            AV_FRAME_DATA_DYNAMIC_HDR_PLUS,
            "HDR10+ is left out: the output is plain HDR10, as bright as its static metadata says"
        ),
        (AV_FRAME_DATA_DYNAMIC_HDR_VIVID, "the HDR Vivid metadata is left out"),
        (AV_FRAME_DATA_ICC_PROFILE, "the ICC profile of the pictures is left out"),
        (AV_FRAME_DATA_SPHERICAL, "the projection of the spherical video is left out"),
    ]

    /// Of a frame.
    static func lines(of frame: borrowing Frame) -> [String] {
        guard frame.native.pointee.nb_side_data > 0 else { return [] }
        var lines: [String] = []
        for (kind, line) in kinds where frame.has(kind) { lines.append(line) }
        return lines
    }

    /// Dolby Vision, by the stream's configuration record or the first frame's own data.
    static func dolbyVision(_ record: AVDOVIDecoderConfigurationRecord?, isInFrame: Bool) -> [String] {
        guard let record else {
            return isInFrame ? ["Dolby Vision is left out: the output shows its base layer"] : []
        }
        let name = "Dolby Vision profile \(record.dv_profile)"
        // A base layer that is compatible with nothing is in IPTPQc2, which decoders take for YCbCr.
        guard record.dv_bl_signal_compatibility_id != 0 else {
            return ["\(name) is left out, and its base layer alone shows wrong colours: the output has those"]
        }
        return ["\(name) is left out: the output shows its base layer"]
    }

    /// Takes away everything of the decoder's that an encoder would act on, or write once more where the stream
    /// carries it: all side data but the arrangement of stereo pictures, which is true in either direction.
    static func strip(_ frame: borrowing Frame) {
        let native = frame.native
        var kinds: [AVFrameSideDataType] = []
        for place in 0..<Int(native.pointee.nb_side_data) {
            if let kind = native.pointee.side_data[place]?.pointee.type, kind != AV_FRAME_DATA_STEREO3D {
                kinds.append(kind)
            }
        }
        for kind in kinds { av_frame_remove_side_data(native, kind) }
    }
}
