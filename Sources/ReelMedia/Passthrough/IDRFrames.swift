internal import CFFmpeg
internal import ReelCore

/// Reads the NAL units of H.264 pictures (ITU-T H.264 7.3.1). Each must be one IDR picture of whole frames, decoded
/// with parameter sets that never change.
final class IDRFrames {
    private let framing: NALFraming
    private let parameterSets: Set<[UInt8]>
    private let parser: CodecParser

    /// Nil if this FFmpeg cannot parse H.264.
    init?(_ parameters: AVCodecParameters) throws(ReelFailure) {
        guard let parser = try CodecParser(parameters) else { return nil }
        self.parser = parser
        framing = NALFraming(codec: AV_CODEC_ID_H264, extradata: parameters.header)
        parameterSets = Set(framing.parameterSets(in: parameters.header))
    }

    /// The fault of a packet; nil if it has none.
    func fault(in bytes: UnsafeRawBufferPointer) -> PacketFault? {
        let units = framing.units(in: bytes)
        var pictures = 0
        for unit in units {
            guard let header = unit.first else { continue }
            switch header & 0x1f {
            case 5:
                // A picture begins at a slice whose first_mb_in_slice is 0, which is a single bit.
                if let next = unit.dropFirst().first, next & 0x80 != 0 { pictures += 1 }
            case 1...4: return .notIDR
            case 7, 8:
                guard parameterSets.contains(Array(unit)) else { return .parameterSets }
            case 14, 15, 20, 21: return .layers
            default: continue
            }
        }
        guard pictures == 1 else { return pictures == 0 ? .incomplete : .severalPictures }
        return parser.parse(bytes).field_order == AV_FIELD_PROGRESSIVE ? nil : .interlaced
    }
}

extension NALFraming {
    /// The sequence and picture parameter sets of H.264 in extradata: ISO 14496-15 5.3.3.1, or start codes.
    func parameterSets(in extradata: UnsafeRawBufferPointer) -> [[UInt8]] {
        guard case .lengths = self else { return units(in: extradata).map(Array.init) }
        var sets: [[UInt8]] = []
        var place = 5
        for mask: UInt8 in [0x1f, 0xff] where place < extradata.count {
            let count = extradata[place] & mask
            place += 1
            for _ in 0..<count where place + 2 <= extradata.count {
                let length = extradata.bigEndian(at: place, bytes: 2)
                guard place + 2 + length <= extradata.count else { return sets }
                sets.append(Array(extradata[place + 2..<place + 2 + length]))
                place += 2 + length
            }
        }
        return sets
    }
}
