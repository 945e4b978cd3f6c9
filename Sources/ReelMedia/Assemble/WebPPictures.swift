internal import CFFmpeg
internal import Glibc
internal import ReelCore

/// Encodes pictures for a WebP file. Each is the part that differs from the one before, and is coded alone, so that
/// memory does not grow with their number.
final class WebPEncoder {
    private let name: String
    private let format: AVPixelFormat
    private let isLossless: Bool
    private let isOpaque: Bool
    private var encoder: (native: Encoder, size: PictureSize)?
    private let last: Frame
    private let packet: Packet

    /// The side in pixels of the squares that libwebp leaves out of a lossy picture if all of one is transparent.
    private static let square = 8
    /// The least share of unchanged squares that is worth clearing: opacity takes bytes, too.
    private static let least = Rational(3, 4)

    /// - Parameters:
    ///   - format: the pixel format of the pictures, which has opacity.
    ///   - isOpaque: whether all of every picture is opaque.
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

    /// - Parameter name: what failures call the file.
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
        defer {
            var parameters: UnsafeMutablePointer<AVCodecParameters>? = parameters
            avcodec_parameters_free(&parameters)
        }
        parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        parameters.pointee.codec_id = AV_CODEC_ID_WEBP
        return try Decoder(parameters: parameters, timeBase: TimeBase(1, 1000), threads: 1, path: name)
    }
}

/// The changes from one picture to the next, of the same size and format. It does not keep their memory.
struct PictureChange {
    private let size: PictureSize
    private let planes: [Plane]

    /// A plane of both pictures.
    private struct Plane {
        let mine: UnsafeMutablePointer<UInt8>
        let theirs: UnsafeMutablePointer<UInt8>
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
        guard format.descriptor != nil else {
            throw ReelFailure(.pictureUnconvertible(width: picture.width, height: picture.height))
        }
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
