internal import CFFmpeg
internal import ReelCore

/// The signalling of pictures (field order, rotation, light, colour) that neither encoder nor container holds.
extension TargetChoice {
    func lostSignalling(in format: OutputFormat, encoder: String) -> [Diagnostic] {
        let told = EncoderTraits.named(encoder).tells
        let (container, traits) = (spec.container, spec.container.traits)
        var lost: [Diagnostic?] = []
        if format.displayMatrix != nil, !traits.holdsRotation { lost.append(.rotationLost(container: container)) }
        lost.append(lostInterlacing(in: format, encoder, told))
        if stream.masteringDisplay != nil || stream.contentLight != nil, !traits.holdsLight, !told.contains(.light) {
            lost.append(.lightLost(encoder: encoder, container: container))
        }
        let tags = stream.colour
        let isStated = [tags.primaries, tags.transfer, tags.matrix].contains { $0 != nil } || tags.range == "pc"
        if isStated, !traits.holdsColour, !told.contains(.colour) {
            lost.append(.colourLost(encoder: encoder, container: container))
        }
        return lost.compactMap(\.self)
    }

    private func lostInterlacing(
        in format: OutputFormat, _ encoder: String, _ told: EncoderTraits.Told
    ) -> Diagnostic? {
        guard format.fieldOrder.isInterlaced else { return nil }
        let first: FirstField = format.fieldOrder == .topFirst ? .top : .bottom
        guard told.contains(.fields) else {
            return !format.fieldsVary && spec.container.traits.holdsFieldOrder
                ? .interlacingInContainer(first: first, encoder: encoder)
                : .interlacingLost(first: first, encoder: encoder)
        }
        // If only the direction changes the field order, encoders flag it right: a chunk has one direction.
        guard stream.fieldsVary else { return format.fieldsVary ? .fieldOrdersVary : nil }
        return told.contains(.fieldsOfEachFrame) ? nil : .interlacingUniform(first: first, encoder: encoder)
    }
}

/// Side data of pictures that cannot be kept in the output.
enum DroppedSideData {
    private static let kinds: [(kind: AVFrameSideDataType, extra: PictureExtra)] = [
        (AV_FRAME_DATA_A53_CC, .closedCaptions), (AV_FRAME_DATA_AFD, .activeFormat),
        (AV_FRAME_DATA_S12M_TIMECODE, .timecodes), (AV_FRAME_DATA_DYNAMIC_HDR_PLUS, .hdr10Plus),
        (AV_FRAME_DATA_DYNAMIC_HDR_VIVID, .hdrVivid), (AV_FRAME_DATA_ICC_PROFILE, .iccProfile),
        (AV_FRAME_DATA_SPHERICAL, .projection),
    ]

    static func of(_ frame: borrowing Frame) -> [Diagnostic] {
        guard frame.native.pointee.nb_side_data > 0 else { return [] }
        var losses: [Diagnostic] = []
        for (kind, extra) in kinds where frame.has(kind) { losses.append(.pictureExtraLeftOut(extra: extra)) }
        return losses
    }

    /// Dolby Vision, by the stream's configuration record or the first frame's own data.
    static func dolbyVision(_ record: AVDOVIDecoderConfigurationRecord?, isInFrame: Bool) -> [Diagnostic] {
        guard let record else { return isInFrame ? [.dolbyVisionLeftOut(profile: nil, wrongColours: false)] : [] }
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
