internal import CFFmpeg
internal import Glibc
internal import ReelCore

/// Encodes pictures for a WebP file. Each is the part that differs from the one before, and is coded alone, so that
/// memory does not grow with their number.
final class WebPEncoder {
    private let name: String
    private let format: AVPixelFormat
    private let isLossless, isOpaque: Bool
    private var encoder: (native: Encoder, size: PictureSize)?
    private let last: Frame
    private let packet: Packet

    /// The side in pixels of the squares that libwebp leaves out of a lossy picture if all of one is transparent.
    private static let square = 8
    /// The least share of unchanged squares that is worth clearing: opacity takes bytes, too.
    private static let least = Rational(3, 4)

    /// The format of the pictures has opacity; `isOpaque` says whether all of every picture is opaque.
    init(_ name: String, format: AVPixelFormat, isLossless: Bool, isOpaque: Bool) throws(ReelFailure) {
        (self.name, self.format, self.isLossless, self.isOpaque) = (name, format, isLossless, isOpaque)
        last = try Frame()
        packet = try Packet()
    }

    /// Codes the next picture, which is shown for `delay` milliseconds.
    func code(_ picture: borrowing Frame, delay: Int64) throws(ReelFailure) -> WebPPicture {
        let isFirst = last.width == 0
        let area =
            isFirst
            ? PictureArea(x: 0, y: 0, width: picture.width, height: picture.height)
            : try PictureChange(of: picture, since: last).area
        let part = try picture.part(area)
        // libwebp clears transparent pixels in the memory that it is given.
        try check(av_frame_make_writable(part.native), .convertPicture)
        let isOverlay = isOpaque && !isFirst
        if isOverlay {
            let change = try PictureChange(of: part, since: last.part(area))
            if isLossless {
                change.clearUnchanged(squares: 1)
            } else if change.unchanged(squares: WebPEncoder.square) >= WebPEncoder.least {
                change.clearUnchanged(squares: WebPEncoder.square)
            }
        }
        last.take(try picture.reference())
        let encoder = try encoder(area.size)
        try encoder.send(part)
        defer { packet.reset() }
        guard try encoder.receive(into: packet),
            let coded = packet.withBytes({ WebPPicture(file: $0, area: area, isOverlay: isOverlay, delay: delay) })
        else { throw ReelFailure(.encoderMiscounts(encoder: name, packets: 0, frames: 1)) }
        return coded
    }

    private func encoder(_ size: PictureSize) throws(ReelFailure) -> Encoder {
        if let encoder, encoder.size == size { return encoder.native }
        let options = isLossless ? [MediaOption(name: "lossless", value: "1")] : []
        let made = try Encoder(name, options: options) { [format] context in
            context.describePictures(size.width, size.height, format, TimeBase(1, 1000))
        }
        encoder = (made, size)
        return made
    }
}

/// Decodes the pictures of a WebP file and shows each at its place.
final class WebPCanvas {
    /// What is shown: blue, green, red and opacity.
    let shown: Frame
    private let name: String
    private let converter = LoopConverter()
    private let packet: Packet
    private let frame: Frame

    init(_ size: PictureSize, name: String) throws(ReelFailure) {
        shown = try Frame()
        packet = try Packet()
        frame = try Frame()
        self.name = name
        try shown.allocate(size.width, size.height, AV_PIX_FMT_BGRA)
    }

    /// Shows the next picture. Returns false if it does not decode, or has another size than it says.
    func show(_ picture: WebPPicture) throws(ReelFailure) -> Bool {
        let area = picture.area
        // libavcodec's decoder keeps the size of the pictures before.
        let decoder = try decoder()
        try packet.fill(with: picture.file)
        defer { packet.reset() }
        guard area.lies(in: shown.size), try decoder.send(packet) == .accepted,
            try decoder.receive(into: frame) == .frame, !frame.isDamaged, frame.width == area.width,
            frame.height == area.height
        else { return false }
        let part = try converter.shown(frame)
        guard let pixels = part.plane(0), let canvas = shown.plane(0) else { return false }
        for row in 0..<area.height {
            let (from, to) = (row * part.lineSize(0), (area.y + row) * shown.lineSize(0) + 4 * area.x)
            for pixel in stride(from: 0, to: 4 * area.width, by: 4)
            where !picture.isOverlay || pixels[from + pixel + 3] != 0 {
                memcpy(canvas + to + pixel, pixels + from + pixel, 4)
            }
        }
        return true
    }

    private func decoder() throws(ReelFailure) -> Decoder {
        let parameters = try allocated(avcodec_parameters_alloc(), .describeStream)
        defer { release(parameters, avcodec_parameters_free) }
        parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        parameters.pointee.codec_id = AV_CODEC_ID_WEBP
        return try Decoder(parameters: parameters, timeBase: TimeBase(1, 1000), threads: 1, path: name)
    }
}

/// The changes from one picture to the next, of the same size and format. It does not keep their memory.
struct PictureChange {
    private let size: PictureSize
    private let planes: [Plane]

    private struct Plane {
        let mine, theirs: UnsafeMutablePointer<UInt8>
        let lineSizes: (mine: Int, theirs: Int)
        /// Bytes of a sample, and as powers of two the pixels and the lines that share one.
        let bytes, across, down: Int

        /// The samples of this many pixels, or of this many lines, and of a part of one.
        func samples(_ pixels: Int) -> Int { (pixels + (1 << across) - 1) >> across }
        func lines(_ lines: Int) -> Int { (lines + (1 << down) - 1) >> down }

        func isEqual(_ area: PictureArea) -> Bool {
            let start = (area.x >> across) * bytes
            let count = samples(area.x + area.width) * bytes - start
            return (area.y >> down..<lines(area.y + area.height)).allSatisfy {
                memcmp(mine + $0 * lineSizes.mine + start, theirs + $0 * lineSizes.theirs + start, count) == 0
            }
        }
    }

    init(of picture: borrowing Frame, since before: borrowing Frame) throws(ReelFailure) {
        let format = picture.pixelFormat
        guard format.descriptor != nil else { throw picture.unconvertible }
        var planes: [Plane] = []
        for plane in 0..<max(Int(av_pix_fmt_count_planes(format)), 0) {
            guard let mine = picture.plane(plane), let theirs = before.plane(plane) else { continue }
            let shifts = format.shifts(ofPlane: plane)
            planes.append(
                Plane(
                    mine: mine, theirs: theirs, lineSizes: (picture.lineSize(plane), before.lineSize(plane)),
                    bytes: Int(av_image_get_linesize(format, 1, Int32(plane))), across: shifts.across,
                    down: shifts.down))
        }
        self.planes = planes
        size = picture.size
    }

    /// The smallest part that contains all changes and begins at an even pixel and an even line; a single pixel if
    /// nothing has changed.
    var area: PictureArea {
        let (width, height) = (size.width, size.height)
        var (left, right, top, bottom) = (width, 0, height, 0)
        for plane in planes {
            let bytes = plane.samples(width) * plane.bytes
            for row in 0..<plane.lines(height) {
                let mine = plane.mine + row * plane.lineSizes.mine
                let theirs = plane.theirs + row * plane.lineSizes.theirs
                guard memcmp(mine, theirs, bytes) != 0 else { continue }
                var (first, end) = (0, bytes)
                while mine[first] == theirs[first] { first += 1 }
                while mine[end - 1] == theirs[end - 1] { end -= 1 }
                left = min(left, (first / plane.bytes) << plane.across)
                right = max(right, ((end - 1) / plane.bytes + 1) << plane.across)
                (top, bottom) = (min(top, row << plane.down), max(bottom, (row + 1) << plane.down))
            }
        }
        guard bottom > 0 else { return PictureArea(x: 0, y: 0, width: 1, height: 1) }
        (left, top) = (left & ~1, top & ~1)
        return PictureArea(x: left, y: top, width: min(right, width) - left, height: min(bottom, height) - top)
    }

    /// The share of the squares with sides of this many pixels that have not changed. The side is even if pixels share
    /// colours.
    func unchanged(squares side: Int) -> Rational {
        let count = ((size.width + side - 1) / side) * ((size.height + side - 1) / side)
        return Rational(equal(squares: side).reduce(0) { sum, _ in sum + 1 }, Int64(count))
    }

    /// Makes every unchanged square of the picture transparent. The last plane holds the opacity of planar
    /// formats, and all of it is cleared in others.
    func clearUnchanged(squares side: Int) {
        guard let last = planes.last else { return }
        for square in equal(squares: side) {
            for row in square.y..<square.y + square.height {
                memset(last.mine + row * last.lineSizes.mine + square.x * last.bytes, 0, square.width * last.bytes)
            }
        }
    }

    private func equal(squares side: Int) -> some Sequence<PictureArea> {
        stride(from: 0, to: size.height, by: side).lazy.flatMap { y in
            stride(from: 0, to: size.width, by: side).lazy.map { x in
                PictureArea(x: x, y: y, width: min(side, size.width - x), height: min(side, size.height - y))
            }
        }.filter { square in planes.allSatisfy { $0.isEqual(square) } }
    }
}

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
        do throws(ByteFault) { try sink.write(bytes, at: offset) } catch {
            throw fileFailure(errno: error.errno, .write, sink.name)
        }
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
