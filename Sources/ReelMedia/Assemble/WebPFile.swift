internal import ReelCore

/// A part of what a WebP file shows (RFC 9649), coded on its own.
struct WebPPicture {
    /// "ALPH" and "VP8 ", or "VP8L", each with its header.
    let chunks: [UInt8]
    /// The part of the canvas where it is shown.
    let area: PictureArea
    /// Whether the old picture stays visible through transparent pixels; otherwise this one replaces all of the part.
    let isOverlay: Bool
    /// Milliseconds for which the canvas is shown with it; a file of one picture does not store them.
    let delay: Int64

    /// A file of one picture, as an encoder makes it; nil if these bytes are not one.
    init?(file: UnsafeRawBufferPointer, area: PictureArea, isOverlay: Bool, delay: Int64) {
        guard file.count > 20, file.prefix(4).elementsEqual("RIFF".utf8), file[8..<12].elementsEqual("WEBP".utf8) else {
            return nil
        }
        // The chunk before the picture repeats its size.
        let isExtended = file[12..<16].elementsEqual("VP8X".utf8)
        chunks = Array(file.dropFirst(isExtended ? 30 : 12))
        (self.area, self.isOverlay, self.delay) = (area, isOverlay, delay)
    }

    /// The chunk of a picture in a file of several; nil if these bytes are not one.
    init?(chunk: [UInt8]) {
        guard chunk.count > 24, chunk.starts(with: "ANMF".utf8) else { return nil }
        let number = { (place: Int, count: Int) in little(chunk[place..<place + count]) }
        area = PictureArea(
            x: 2 * number(8, 3), y: 2 * number(11, 3), width: 1 + number(14, 3), height: 1 + number(17, 3))
        (chunks, isOverlay, delay) = (Array(chunk[24...]), chunk[23] & 2 == 0, Int64(number(20, 3)))
    }

    /// The chunk of the picture in a file of several.
    var chunk: [UInt8] {
        let place = little(area.x / 2, 3) + little(area.y / 2, 3)
        let size = little(area.width - 1, 3) + little(area.height - 1, 3)
        return Array("ANMF".utf8) + little(16 + chunks.count, 4) + place + size + little(Int(delay), 3) + [
            isOverlay ? 0 : 2
        ] + chunks
    }

    /// The picture as a file of its own, as decoders take it.
    var file: [UInt8] {
        var body = Array("WEBP".utf8)
        if chunks.starts(with: "ALPH".utf8) {
            // Flags (16 means transparency), and three reserved bytes.
            body += Array("VP8X".utf8) + little(10, 4) + [16, 0, 0, 0] + little(area.width - 1, 3)
            body += little(area.height - 1, 3)
        }
        body += chunks
        return Array("RIFF".utf8) + little(body.count, 4) + body
    }
}

/// The layout of a WebP file. A file of several pictures has a head, and a chunk for each picture; a single picture is
/// the whole file.
///
/// libavformat's muxer does not say that a picture replaces the one before, so that one would show through where it is
/// transparent; and its demuxer reads no file of several pictures.
struct WebPLayout {
    let size: PictureSize
    let count: Int
    /// How often they are played; 0 for ever.
    let plays: Int

    /// The head of a file of `length` bytes, before its pictures.
    func head(length: Int64) -> [UInt8] {
        guard count > 1 else { return [] }
        // In the flags, 2 means several pictures, and 16 that some may be transparent.
        var head = Array("RIFF".utf8) + little(Int(length) - 8, 4) + Array("WEBPVP8X".utf8) + little(10, 4)
        head += [18, 0, 0, 0] + little(size.width - 1, 3) + little(size.height - 1, 3)
        // The background is transparent.
        return head + Array("ANIM".utf8) + little(6, 4) + little(0, 4) + little(plays, 2)
    }

    func bytes(of picture: WebPPicture) -> [UInt8] { count > 1 ? picture.chunk : picture.file }

    /// The picture with these bytes in the file; nil if they are not a picture.
    func picture(in bytes: [UInt8]) -> WebPPicture? {
        guard count == 1 else { return WebPPicture(chunk: bytes) }
        let all = PictureArea(x: 0, y: 0, width: size.width, height: size.height)
        return bytes.withUnsafeBytes { WebPPicture(file: $0, area: all, isOverlay: false, delay: 0) }
    }
}

final class WebPWriter {
    private let sink: any ByteSink
    private let layout: WebPLayout
    private var offset: Int64

    init(_ sink: any ByteSink, _ layout: WebPLayout) {
        (self.sink, self.layout) = (sink, layout)
        offset = Int64(layout.head(length: 0).count)
    }

    func add(_ bytes: [UInt8]) throws(ReelFailure) {
        try write(bytes, at: offset)
        offset += Int64(bytes.count)
        // Its length has 32 bits.
        guard offset <= Int64(UInt32.max) else {
            throw ReelFailure(
                .outputRefused(path: sink.name, step: .writePackets, said: "a WebP file has at most 4 GiB"))
        }
    }

    /// Completes the file; returns its size in bytes.
    func finish() throws(ReelFailure) -> Int64 {
        try write(layout.head(length: offset), at: 0)
        return offset
    }

    private func write(_ bytes: [UInt8], at offset: Int64) throws(ReelFailure) {
        do throws(ByteFault) {
            try bytes.withUnsafeBytes { bytes in Result { () throws(ByteFault) in try sink.write(bytes, at: offset) } }
                .get()
        } catch { throw fileFailure(errno: error.errno, .write, sink.name) }
    }
}

struct WebPReader {
    private let bytes: ByteReader
    private var offset: Int64

    /// Throws if the file does not begin as the layout says.
    init(_ bytes: ByteReader, _ layout: WebPLayout) throws(ReelFailure) {
        self.bytes = bytes
        let head = layout.head(length: bytes.size)
        guard try bytes.bytes(at: 0, head.count) == head else { throw WebPReader.flawed }
        offset = Int64(head.count)
    }

    /// The bytes of the next picture; nil at the file's end. Throws if the file ends within them.
    mutating func next() throws(ReelFailure) -> [UInt8]? {
        let head = try bytes.bytes(at: offset, 8)
        guard !head.isEmpty else { return nil }
        guard head.count == 8 else { throw WebPReader.flawed }
        let length = little(head[4...])
        guard offset + 8 + Int64(length) <= bytes.size else { throw WebPReader.flawed }
        let body = try bytes.bytes(at: offset + 8, length)
        guard body.count == length else { throw WebPReader.flawed }
        offset += 8 + Int64(length)
        return head + body
    }

    private static var flawed: ReelFailure { unverified(.payload) }
}

/// The bytes of a number, the least significant first.
private func little(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

/// The number of these bytes, the least significant first.
private func little(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
