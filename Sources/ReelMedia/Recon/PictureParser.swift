internal import CFFmpeg
internal import ReelCore

/// Tells from a packet's bytes, without decoding it, where its picture belongs among the others.
final class PictureParser {
    private let native: UnsafeMutablePointer<AVCodecParserContext>
    private var context: UnsafeMutablePointer<AVCodecContext>
    private let randomAccess: RandomAccess
    private let countsOrder: Bool
    /// Which frames are interlaced, by their headers: broadcasts switch in the middle, and neither the container nor the
    /// first frame tells.
    private(set) var fields = FieldTally()
    /// Whether the headers tell which field comes first. In H.264 the parser goes by the picture structure, decoders by
    /// the fields' picture order counts (ITU-T H.264 8.2.1), and x264 as libavcodec drives it lets these differ.
    let knowsFieldOrder: Bool
    /// The field that waits for its other half.
    private var firstField: AVPictureStructure?

    /// Nil for codecs that show pictures in the order of their packets.
    init?(stream: UnsafeMutablePointer<AVStream>, randomAccess: RandomAccess) throws(ReelFailure) {
        let parameters = stream.pointee.codecpar.pointee
        let reordering = [
            AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_MPEG4,
            AV_CODEC_ID_VC1, AV_CODEC_ID_WMV3,
        ]
        guard reordering.contains(parameters.codec_id), let parser = av_parser_init(Int32(parameters.codec_id.rawValue))
        else { return nil }
        native = parser
        native.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
        self.randomAccess = randomAccess
        countsOrder = parameters.codec_id == AV_CODEC_ID_H264 || parameters.codec_id == AV_CODEC_ID_HEVC
        knowsFieldOrder = parameters.codec_id != AV_CODEC_ID_H264
        do {
            context = try allocated(avcodec_alloc_context3(nil), "a parser")
        } catch {
            av_parser_close(parser)
            throw error
        }
        try check(avcodec_parameters_to_context(context, stream.pointee.codecpar), "setting up a parser")
    }

    deinit {
        av_parser_close(native)
        var pointer: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&pointer)
    }

    /// What the packet says; packets are to be shown to it in the order of the file.
    func look(at packet: borrowing Packet) -> CodedPicture {
        var (output, size): (UnsafeMutablePointer<UInt8>?, Int32) = (nil, 0)
        native.pointee.pict_type = 0
        native.pointee.picture_structure = AV_PICTURE_STRUCTURE_UNKNOWN
        native.pointee.field_order = AV_FIELD_UNKNOWN
        _ = av_parser_parse2(
            native, context, &output, &size, packet.native.pointee.data, packet.native.pointee.size,
            packet.native.pointee.pts, packet.native.pointee.dts, packet.native.pointee.pos)
        if !packet.isDiscarded { fields.add(FieldOrder(native: native.pointee.field_order)) }
        let isSecond = isSecondField(native.pointee.picture_structure)
        return CodedPicture(
            isSecondField: isSecond,
            isBidirectional: !countsOrder && native.pointee.pict_type == Int32(AV_PICTURE_TYPE_B.rawValue),
            order: countsOrder ? Int(native.pointee.output_picture_number) : nil,
            startsSequence: !isSecond && randomAccess.startsSequence(packet))
    }

    /// Two fields of opposite parity on end are one frame (ITU-T H.264 3.30, complementary field pairs).
    private func isSecondField(_ structure: AVPictureStructure) -> Bool {
        guard structure == AV_PICTURE_STRUCTURE_TOP_FIELD || structure == AV_PICTURE_STRUCTURE_BOTTOM_FIELD else {
            firstField = nil
            return false
        }
        let isSecond = firstField.map { $0 != structure } ?? false
        firstField = isSecond ? nil : structure
        return isSecond
    }
}
