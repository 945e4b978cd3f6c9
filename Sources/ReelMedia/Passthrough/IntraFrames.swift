internal import CFFmpeg
internal import Glibc
internal import ReelCore

/// Proves by bytes, not by flags, that each packet of a video is a whole progressive frame that refers to no other.
struct IntraFrames {
    private enum Syntax {
        case prores, dnxhd, ffv1, raw, huffyuv
        case jpeg(JPEGFrames)
        case h264(IDRFrames)
    }

    private var syntax: Syntax
    private let width, height: Int
    /// The facts that must be the same in every packet: those of the first one, nil before it.
    private var constant: [UInt8]?

    /// Nil for codecs whose packets may refer to others, or that reel cannot read.
    init?(_ parameters: AVCodecParameters) throws(ReelFailure) {
        switch parameters.codec_id {
        case AV_CODEC_ID_PRORES: syntax = .prores
        case AV_CODEC_ID_DNXHD: syntax = .dnxhd
        case AV_CODEC_ID_FFV1: syntax = .ffv1
        case AV_CODEC_ID_RAWVIDEO: syntax = .raw
        case AV_CODEC_ID_HUFFYUV, AV_CODEC_ID_FFVHUFF: syntax = .huffyuv
        case AV_CODEC_ID_MJPEG: syntax = .jpeg(JPEGFrames())
        case AV_CODEC_ID_H264:
            guard let frames = try IDRFrames(parameters) else { return nil }
            syntax = .h264(frames)
        default: return nil
        }
        (width, height) = (Int(parameters.width), Int(parameters.height))
    }

    /// The number of a packet's first bytes that `fault` nearly always needs.
    var headerBytes: Int {
        switch syntax {
        case .prores: 32
        case .dnxhd: 64
        case .ffv1: 2
        case .raw, .huffyuv: 0
        case .jpeg: 4096
        case .h264: .max
        }
    }

    /// The fault of a packet; nil if it has none. Reads at most the first `count` bytes.
    mutating func fault(in bytes: UnsafeRawBufferPointer, first count: Int) -> PacketFault? {
        switch syntax {
        case .prores: return proresFault(bytes)
        case .dnxhd: return dnxhdFault(bytes)
        case .ffv1: return ffv1Fault(bytes)
        case .raw: return differs(withUnsafeBytes(of: bytes.count) { Array($0) }, .packetSize)
        case .huffyuv: return bytes.isEmpty ? .empty : nil
        case .jpeg(var frames):
            defer { syntax = .jpeg(frames) }
            return frames.fault(in: bytes, first: count, width: width, height: height)
        case .h264(let frames): return frames.fault(in: bytes)
        }
    }

    private mutating func differs(_ bytes: [UInt8], _ fault: PacketFault) -> PacketFault? {
        guard let constant else {
            constant = bytes
            return nil
        }
        return constant == bytes ? nil : fault
    }

    /// SMPTE RDD 36 5.1: frame_size, "icpf", then the frame header with size, chroma format and interlace mode.
    private mutating func proresFault(_ bytes: UnsafeRawBufferPointer) -> PacketFault? {
        guard bytes.count > 28, bytes.bigEndian(at: 0, bytes: 4) <= bytes.count, bytes[4..<8].elementsEqual("icpf".utf8)
        else { return .incomplete }
        guard bytes.bigEndian(at: 16, bytes: 2) == width, bytes.bigEndian(at: 18, bytes: 2) == height else {
            return .pictureSize
        }
        guard bytes[20] & 0x0c == 0 else { return .interlaced }
        return differs([bytes[20] & 0xc0, bytes[25] & 0x0f], .format)
    }

    /// SMPTE ST 2019-1: the header's prefix, the field flag, picture size, depth, compression id.
    private mutating func dnxhdFault(_ bytes: UnsafeRawBufferPointer) -> PacketFault? {
        guard bytes.count > 0x280 else { return .incomplete }
        guard bytes[5] & 2 == 0 else { return .interlaced }
        return differs(Array(bytes[..<5]) + bytes[0x18..<0x2c], .format)
    }

    /// RFC 9043 4.4: the first bit, coded with even odds, tells whether this is a key frame.
    private func ffv1Fault(_ bytes: UnsafeRawBufferPointer) -> PacketFault? {
        guard bytes.count > 2 else { return .incomplete }
        return bytes.bigEndian(at: 0, bytes: 2) < 0x7f80 ? .notKey : nil
    }
}

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
            case 7, 8: guard parameterSets.contains(Array(unit)) else { return .parameterSets }
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

/// Reads the markers of Motion JPEG pictures (ITU-T T.81 B.1). Decoders keep tables from picture to picture, so a
/// picture without tables may depend on another's.
struct JPEGFrames {
    /// Whether pictures contain Huffman tables; if none does, all use the standard's.
    private var bringsHuffmanTables: Bool?
    /// Precision, components and their sampling in the first picture's frame header.
    private var components: [UInt8]?

    /// The fault of a picture in a video of this size; nil if it has none. Reads only the header of its first `count`
    /// bytes, unless these are the whole picture.
    mutating func fault(in picture: UnsafeRawBufferPointer, first count: Int, width: Int, height: Int) -> PacketFault? {
        let bytes = UnsafeRawBufferPointer(rebasing: picture.prefix(count))
        guard bytes.count > 4, bytes[0] == 0xff, bytes[1] == 0xd8 else { return .incomplete }
        var (place, hasQuantisers, hasHuffmanTables, isSized) = (2, false, false, false)
        while place + 4 <= bytes.count {
            guard bytes[place] == 0xff else { return .header }
            let marker = bytes[place + 1]
            // Fill bytes.
            guard marker != 0xff else {
                place += 1
                continue
            }
            let length = bytes.bigEndian(at: place + 2, bytes: 2)
            guard length >= 2, place + 2 + length <= bytes.count else { return .header }
            let segment = UnsafeRawBufferPointer(rebasing: bytes[place + 4..<place + 2 + length])
            switch marker {
            case 0xda:
                guard hasQuantisers, isSized else { return .noTables }
                guard bringsHuffmanTables ?? hasHuffmanTables == hasHuffmanTables else { return .huffmanTables }
                bringsHuffmanTables = hasHuffmanTables
                return bytes.count < picture.count ? nil : endFault(bytes, from: place + 2 + length)
            case 0xdb: hasQuantisers = true
            case 0xc4: hasHuffmanTables = true
            case 0xc0...0xc3:
                guard segment.count >= 5 else { return .header }
                // A field has half of the height.
                let lines = segment.bigEndian(at: 1, bytes: 2)
                guard lines * 4 >= height * 3 else { return .interlaced }
                guard lines == height, segment.bigEndian(at: 3, bytes: 2) == width else { return .pictureSize }
                let own = [segment[0]] + segment[5...]
                guard components ?? own == own else { return .format }
                components = own
                isSized = true
            case 0xe0:
                // The polarity field that AVI writes; 0 means a whole frame.
                let isField = segment.count > 4 && segment[..<4].elementsEqual("AVI1".utf8) && segment[4] != 0
                if isField { return .interlaced }
            default: break
            }
            place += 2 + length
        }
        return .incomplete
    }

    /// Whether there is one end of image, and no other image after it.
    private func endFault(_ bytes: UnsafeRawBufferPointer, from start: Int) -> PacketFault? {
        guard let end = Self.marker(0xd9, in: bytes, from: start) else { return .cutOff }
        return Self.marker(0xd8, in: bytes, from: end + 2) == nil ? nil : .interlaced
    }

    /// The offset of a marker. Nearly the whole picture is searched, so memchr() does it.
    private static func marker(_ code: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var place = start
        while place + 1 < bytes.count, let found = memchr(base + place, 0xff, bytes.count - 1 - place) {
            place = UnsafeRawPointer(found) - base
            if bytes[place + 1] == code { return place }
            place += 1
        }
        return nil
    }
}
