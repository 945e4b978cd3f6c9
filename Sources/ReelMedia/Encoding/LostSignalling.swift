internal import CFFmpeg
internal import ReelCore

/// The signalling of pictures (field order, rotation, light, colour) that neither encoder nor container holds.
struct LostSignalling {
    let stream: VideoStream
    /// The format of the output's video.
    let format: OutputFormat
    let encoder: String
    let container: Container

    var diagnostics: [Diagnostic] { [rotation, interlacing, light, colour].compactMap(\.self) }

    private var rotation: Diagnostic? {
        guard format.displayMatrix != nil, !container.traits.holdsRotation else { return nil }
        return .rotationLost(container: container)
    }

    private var told: EncoderTraits.Told { EncoderTraits.named(encoder).tells }

    private var interlacing: Diagnostic? {
        guard format.fieldOrder.isInterlaced else { return nil }
        let first: FirstField = format.fieldOrder == .topFirst ? .top : .bottom
        guard told.contains(.fields) else {
            if !format.fieldsVary, container.traits.holdsFieldOrder {
                return .interlacingInContainer(first: first, encoder: encoder)
            }
            return .interlacingLost(first: first, encoder: encoder)
        }
        // If only the direction changes the field order, encoders flag it right: a chunk has one direction.
        guard stream.fieldsVary else { return format.fieldsVary ? .fieldOrdersVary : nil }
        guard !told.contains(.fieldsOfEachFrame) else { return nil }
        return .interlacingUniform(first: first, encoder: encoder)
    }

    private var light: Diagnostic? {
        guard stream.masteringDisplay != nil || stream.contentLight != nil, !container.traits.holdsLight,
            !told.contains(.light)
        else { return nil }
        return .lightLost(encoder: encoder, container: container)
    }

    private var colour: Diagnostic? {
        let tags = stream.colour
        guard !container.traits.holdsColour, !told.contains(.colour),
            [tags.primaries, tags.transfer, tags.matrix].contains(where: { $0 != nil }) || tags.range == "pc"
        else { return nil }
        return .colourLost(encoder: encoder, container: container)
    }
}

/// Side data of pictures that cannot be kept in the output.
enum DroppedSideData {
    /// Kinds of the decoder's side data whose loss is reported.
    private static let kinds: [(kind: AVFrameSideDataType, extra: PictureExtra)] = [
        (AV_FRAME_DATA_A53_CC, .closedCaptions), (AV_FRAME_DATA_AFD, .activeFormat),
        (AV_FRAME_DATA_S12M_TIMECODE, .timecodes), (AV_FRAME_DATA_DYNAMIC_HDR_PLUS, .hdr10Plus),
        (AV_FRAME_DATA_DYNAMIC_HDR_VIVID, .hdrVivid), (AV_FRAME_DATA_ICC_PROFILE, .iccProfile),
        (AV_FRAME_DATA_SPHERICAL, .projection),
    ]

    /// The losses of a frame.
    static func of(_ frame: borrowing Frame) -> [Diagnostic] {
        guard frame.native.pointee.nb_side_data > 0 else { return [] }
        var losses: [Diagnostic] = []
        for (kind, extra) in kinds where frame.has(kind) { losses.append(.pictureExtraLeftOut(extra: extra)) }
        return losses
    }

    /// Dolby Vision, by the stream's configuration record or the first frame's own data.
    static func dolbyVision(_ record: AVDOVIDecoderConfigurationRecord?, isInFrame: Bool) -> [Diagnostic] {
        guard let record else {
            return isInFrame ? [.dolbyVisionLeftOut(profile: nil, wrongColours: false)] : []
        }
        // A base layer without compatibility is in IPTPQc2, which decoders take for YCbCr.
        let isWrong = record.dv_bl_signal_compatibility_id == 0
        return [.dolbyVisionLeftOut(profile: Int(record.dv_profile), wrongColours: isWrong)]
    }

    /// Removes all of the decoder's data on which an encoder would act, or that it would write again although the
    /// stream carries it: all side data except the arrangement of stereo pictures, which is the same in either
    /// direction.
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
