internal import CFFmpeg
internal import ReelCore

/// Reads from a packet's bytes, without decoding, the place of its picture among the others.
final class PictureParser {
    private let parser: CodecParser
    private let randomAccess: RandomAccess
    private let countsOrder: Bool
    /// A parser that reports no structure has not found the picture's header.
    private let namesStructure: Bool
    /// Counts of interlaced frames by their headers. Broadcasts switch in the middle, which neither the container nor
    /// the first frame shows.
    private(set) var fields = FieldOrderCounts()
    /// Whether the headers tell which field comes first. For H.264, the parser uses the picture structure, decoders the
    /// fields' picture order counts (ITU-T H.264 8.2.1), and x264 as driven by libavcodec lets these differ.
    let knowsFieldOrder: Bool
    /// Whether the last picture was a single field.
    private(set) var isField = false
    /// The field whose second field has not come yet.
    private var firstField: AVPictureStructure?

    /// Nil for codecs that show pictures in the order of their packets.
    init?(_ parameters: AVCodecParameters, randomAccess: RandomAccess) throws(ReelFailure) {
        let reordering = [
            AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_MPEG4,
            AV_CODEC_ID_VC1, AV_CODEC_ID_WMV3,
        ]
        guard reordering.contains(parameters.codec_id), let parser = try CodecParser(parameters) else { return nil }
        self.parser = parser
        self.randomAccess = randomAccess
        countsOrder = parameters.codec_id == AV_CODEC_ID_H264 || parameters.codec_id == AV_CODEC_ID_HEVC
        namesStructure = parameters.codec_id == AV_CODEC_ID_H264
        knowsFieldOrder = parameters.codec_id != AV_CODEC_ID_H264
    }

    /// What a packet's bytes, or its first bytes if `isCut`, say about its picture; nil if these do not reach far
    /// enough. The caller passes packets in the order of the file.
    func look(at bytes: UnsafeRawBufferPointer, flags: PacketEntry.Flags, isCut: Bool) -> CodedPicture? {
        let found = parser.parse(bytes)
        if isCut, namesStructure, found.picture_structure == AV_PICTURE_STRUCTURE_UNKNOWN { return nil }
        if !flags.contains(.discarded) { fields.add(FieldOrder(native: found.field_order)) }
        let isSecond = isSecondField(found.picture_structure)
        // Only packets that the parser or the container flags as key are worth reading completely.
        let mayStart = !isSecond && (flags.contains(.key) || found.key_frame == 1)
        return CodedPicture(
            isSecondField: isSecond,
            isBidirectional: !countsOrder && found.pict_type == Int32(AV_PICTURE_TYPE_B.rawValue),
            order: countsOrder ? found.output_picture_number : nil,
            startsSequence: mayStart && randomAccess.startsSequence(bytes))
    }

    /// Two successive fields of opposite parity are one frame (ITU-T H.264 3.30, complementary field pairs).
    private func isSecondField(_ structure: AVPictureStructure) -> Bool {
        isField = structure == AV_PICTURE_STRUCTURE_TOP_FIELD || structure == AV_PICTURE_STRUCTURE_BOTTOM_FIELD
        guard isField else {
            firstField = nil
            return false
        }
        let isSecond = firstField.map { $0 != structure } ?? false
        firstField = isSecond ? nil : structure
        return isSecond
    }
}
