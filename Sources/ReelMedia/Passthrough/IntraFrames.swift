internal import CFFmpeg
internal import ReelCore

/// Proves by bytes, not by flags, that each packet of a video is a whole progressive frame that refers to no other.
struct IntraFrames {
    private enum Syntax {
        case prores, dnxhd, ffv1, raw, huffyuv
        case jpeg(JPEGFrames)
        case h264(IDRFrames)
    }

    private var syntax: Syntax
    private let width: Int
    private let height: Int
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
        width = Int(parameters.width)
        height = Int(parameters.height)
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
        guard bytes.count > 28, bytes.bigEndian(at: 0, bytes: 4) <= bytes.count,
            bytes[4..<8].elementsEqual("icpf".utf8)
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
