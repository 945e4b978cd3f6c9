internal import CFFmpeg
internal import ReelCore

/// A picture of a WebP file (RFC 9649): the chunks in which it is coded, as they lie in the file.
struct WebPPicture {
    /// "ALPH" and "VP8 ", or "VP8L", each with its header.
    let chunks: [UInt8]
    /// The size of the picture in pixels.
    let size: PictureSize
    /// For how many milliseconds it is shown; nil for the only picture of a file.
    let delay: Int64?

    /// The only picture of a file in memory, as an encoder makes it; nil if that is none.
    init?(file: UnsafeRawBufferPointer, size: PictureSize) {
        guard file.count > 20, file.prefix(4).elementsEqual("RIFF".utf8), file[8..<12].elementsEqual("WEBP".utf8) else {
            return nil
        }
        // What stands before the picture repeats its size.
        let isExtended = file[12..<16].elementsEqual("VP8X".utf8)
        self.init(chunks: Array(file.dropFirst(isExtended ? 30 : 12)), size: size, delay: nil)
    }

    fileprivate init(chunks: [UInt8], size: PictureSize, delay: Int64?) {
        (self.chunks, self.size, self.delay) = (chunks, size, delay)
    }

    /// The picture as a file of its own, as decoders take it.
    var file: [UInt8] {
        var body = Array("WEBP".utf8)
        if chunks.prefix(4).elementsEqual("ALPH".utf8) {
            // Flags, of which 16 is transparency, and three reserved bytes.
            body += Array("VP8X".utf8) + little(10, 4) + [16, 0, 0, 0] + little(size.width - 1, 3)
            body += little(size.height - 1, 3)
        }
        body += chunks
        return Array("RIFF".utf8) + little(body.count, 4) + body
    }
}

/// The bytes of a number, the least significant first.
private func little(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

/// Writes pictures of one size as a WebP file. libavformat's muxer does not say that a picture replaces the one before, so
/// that one would show through where it is transparent.
final class WebPWriter {
    private let sink: any ByteSink
    private let size: PictureSize
    private let isAnimated: Bool
    private var offset: Int64 = 0

    /// - Parameters:
    ///   - count: the number of pictures; a single one is not animated.
    ///   - plays: how often they are played; 0 for ever.
    init(
        _ sink: any ByteSink, size: PictureSize, count: Int, plays: Int, isTransparent: Bool
    ) throws(ReelFailure) {
        (self.sink, self.size, isAnimated) = (sink, size, count > 1)
        guard isAnimated else { return }
        // The length of the file follows at its end. Of the flags, 2 means several pictures, 16 transparency.
        var head = Array("RIFF".utf8) + little(0, 4) + Array("WEBPVP8X".utf8) + little(10, 4)
        head += [isTransparent ? 18 : 2, 0, 0, 0] + little(size.width - 1, 3) + little(size.height - 1, 3)
        // The background is transparent.
        head += Array("ANIM".utf8) + little(6, 4) + little(0, 4) + little(plays, 2)
        try write(head)
    }

    /// Adds a picture that is shown for so many milliseconds.
    func add(_ picture: WebPPicture, delay: Int64) throws(ReelFailure) {
        guard isAnimated else { return try write(picture.file) }
        let length = 16 + picture.chunks.count
        var frame = Array("ANMF".utf8) + little(length, 4) + little(0, 6)
        // Of the flags, 2 means that the picture replaces what was shown.
        frame += little(size.width - 1, 3) + little(size.height - 1, 3) + little(Int(delay), 3) + [2]
        try write(frame + picture.chunks)
    }

    /// Completes the file; returns its size in bytes.
    func finish() throws(ReelFailure) -> Int64 {
        guard offset <= Int64(UInt32.max) else {
            throw ReelFailure(
                .outputRefused(path: sink.name, step: .closeFile, said: "a WebP file has at most 4 GiB"))
        }
        if isAnimated { try write(little(Int(offset) - 8, 4), at: 4) }
        return offset
    }

    private func write(_ bytes: [UInt8]) throws(ReelFailure) {
        try write(bytes, at: offset)
        offset += Int64(bytes.count)
    }

    private func write(_ bytes: [UInt8], at offset: Int64) throws(ReelFailure) {
        do throws(ByteFault) {
            try bytes.withUnsafeBytes { bytes in
                Result { () throws(ByteFault) in try sink.write(bytes, at: offset) }
            }.get()
        } catch {
            throw fileFailure(errno: error.errno, .write, sink.name)
        }
    }
}

/// Reads the pictures of a WebP file, one at a time.
struct WebPFile {
    private let bytes: ByteReader
    private var offset: Int64 = 12
    private let canvas: PictureSize
    private let isAnimated: Bool
    /// Bytes of the file after its first eight, as those say.
    private let length: Int
    /// How often the pictures are played; 0 for ever. Nil for a single picture.
    private(set) var plays: Int?

    /// Throws if the bytes are no WebP file. `size` is that of a single picture.
    init(_ bytes: ByteReader, size: PictureSize) throws(ReelFailure) {
        self.bytes = bytes
        let head = try bytes.bytes(at: 0, 30)
        guard head.count == 30, head.prefix(4).elementsEqual("RIFF".utf8), head[8..<12].elementsEqual("WEBP".utf8)
        else {
            throw WebPFile.malformed
        }
        length = min(WebPFile.number(head[4..<8]), WebPFile.longest)
        // 2 is the flag of a file with several pictures.
        isAnimated = head[12..<16].elementsEqual("VP8X".utf8) && head[20] & 2 != 0
        canvas =
            isAnimated
            ? PictureSize(width: 1 + WebPFile.number(head[24..<27]), height: 1 + WebPFile.number(head[27..<30])) : size
    }

    /// The next picture; nil after the last. Throws if the file ends within one, or does not cover all of the canvas.
    mutating func next() throws(ReelFailure) -> WebPPicture? {
        guard isAnimated else {
            guard offset == 12 else { return nil }
            let file = try bytes.bytes(at: 0, 8 + length)
            offset += 1
            return file.withUnsafeBytes { WebPPicture(file: $0, size: canvas) }
        }
        while true {
            let head = try bytes.bytes(at: offset, 8)
            guard !head.isEmpty else { return nil }
            guard head.count == 8 else { throw WebPFile.malformed }
            let length = WebPFile.number(head[4..<8])
            let name = head.prefix(4)
            defer { offset += 8 + Int64(length + length % 2) }
            if name.elementsEqual("ANIM".utf8) {
                let parameters = try bytes.bytes(at: offset + 8, 6)
                guard parameters.count == 6 else { throw WebPFile.malformed }
                plays = WebPFile.number(parameters[4..<6])
            }
            guard name.elementsEqual("ANMF".utf8) else { continue }
            guard (17...WebPFile.longest).contains(length) else { throw WebPFile.malformed }
            let frame = try bytes.bytes(at: offset + 8, length)
            guard frame.count == length else { throw WebPFile.malformed }
            let size = PictureSize(
                width: 1 + WebPFile.number(frame[6..<9]), height: 1 + WebPFile.number(frame[9..<12]))
            guard WebPFile.number(frame[0..<3]) == 0, WebPFile.number(frame[3..<6]) == 0, size == canvas else {
                throw WebPFile.malformed
            }
            return WebPPicture(
                chunks: Array(frame[16...]), size: size, delay: Int64(WebPFile.number(frame[12..<15])))
        }
    }

    /// More bytes than a picture takes.
    private static let longest = 1 << 28

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

    private static var malformed: ReelFailure { ReelFailure(.verificationFailed(stream: 0, flaw: .undecodable)) }
}
