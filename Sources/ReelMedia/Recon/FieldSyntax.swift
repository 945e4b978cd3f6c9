internal import CFFmpeg

/// Whether a video may have fields, by facts that apply to a whole sequence of its pictures. If it may, each picture's
/// own header must be read.
struct FieldSyntax {
    private let codec: AVCodecID
    private let framing: NALFraming
    private(set) var mayHaveFields: Bool

    init(codec: AVCodecID, extradata: UnsafeRawBufferPointer) {
        self.codec = codec
        framing = NALFraming(codec: codec, extradata: extradata)
        switch codec {
        case AV_CODEC_ID_H264: mayHaveFields = !framing.parameterSets(in: extradata).hasFramesOnly
        case AV_CODEC_ID_MPEG2VIDEO: mayHaveFields = true
        default: mayHaveFields = false
        }
    }

    /// Reads a packet flagged as key, and its picture: sequences begin with such packets.
    mutating func note(_ head: UnsafeRawBufferPointer, isField: Bool) {
        switch codec {
        case AV_CODEC_ID_H264:
            let sets = framing.units(in: head).filter { $0.first.map { $0 & 0x1f } == 7 }.map { Array($0) }
            mayHaveFields = mayHaveFields || !sets.isEmpty && !sets.hasFramesOnly
        case AV_CODEC_ID_MPEG2VIDEO:
            // ISO 13818-2 6.2.2.3: progressive_sequence of the sequence extension.
            let found = startCodes(in: head).first {
                head[$0] == 0xb5 && $0 + 2 < head.count && head[$0 + 1] >> 4 == 1
            }
            if let found { mayHaveFields = head[found + 2] & 8 == 0 }
        default:
            // ITU-T H.265 E.3.1: field_seq_flag, which limits the values of pic_struct, applies to the whole sequence.
            mayHaveFields = mayHaveFields || isField
        }
    }
}

extension [[UInt8]] {
    /// Whether these parameter sets of H.264 describe sequences, and none of these may have fields.
    fileprivate var hasFramesOnly: Bool {
        let sequences = filter { $0.first.map { $0 & 0x1f } == 7 }
        return !sequences.isEmpty
            && sequences.allSatisfy { unit in unit.withUnsafeBytes { framesOnly($0[...].dropFirst()) } ?? false }
    }
}

/// frame_mbs_only_flag of a sequence parameter set (ITU-T H.264 7.3.2.1.1); nil if the set ends too early.
private func framesOnly(_ unit: Slice<UnsafeRawBufferPointer>) -> Bool? {
    guard let profile = unit.first else { return nil }
    var bits = BitReader(unit.dropFirst(3))
    guard bits.exponentialGolomb() != nil else { return nil }
    if [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profile) {
        guard let chroma = bits.exponentialGolomb() else { return nil }
        if chroma == 3 { _ = bits.bit() }
        _ = (bits.exponentialGolomb(), bits.exponentialGolomb(), bits.bit())
        if bits.bit() == 1 {
            for list in 0..<(chroma == 3 ? 12 : 8) where bits.bit() == 1 {
                bits.skipScalingList(of: list < 6 ? 16 : 64)
            }
        }
    }
    _ = bits.exponentialGolomb()
    switch bits.exponentialGolomb() {
    case 0: _ = bits.exponentialGolomb()
    case 1:
        _ = (bits.bit(), bits.exponentialGolomb(), bits.exponentialGolomb())
        // At most 255 offsets.
        for _ in 0..<min(bits.exponentialGolomb() ?? 0, 255) { _ = bits.exponentialGolomb() }
    default: break
    }
    _ = (bits.exponentialGolomb(), bits.bit(), bits.exponentialGolomb(), bits.exponentialGolomb())
    return bits.bit().map { $0 == 1 }
}

extension BitReader {
    /// ITU-T H.264 7.3.2.1.1.1.
    fileprivate mutating func skipScalingList(of size: Int) {
        var (last, next) = (8, 8)
        for _ in 0..<size {
            if next != 0 {
                let folded = exponentialGolomb() ?? 0
                next = (last + (folded & 1 == 1 ? (folded + 1) / 2 : -folded / 2)) & 0xff
            }
            last = next == 0 ? last : next
        }
    }
}
