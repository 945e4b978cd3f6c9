internal import CFFmpeg
internal import ReelCore

/// Encodes pictures for a WebP file. Each is the part that differs from the one before, and is coded alone, so that memory
/// does not grow with their number.
final class WebPEncoder {
    private let name: String
    private let format: AVPixelFormat
    private let isLossless: Bool
    private let isOpaque: Bool
    private var encoder: (native: Encoder, size: PictureSize)?
    /// The picture before.
    private let last: Frame
    private let packet: Packet

    /// The side in pixels of the squares that libwebp leaves out of a lossy picture if all of one is transparent.
    private static let square = 8
    /// The least part of them that is worth it: opacity takes bytes, too.
    private static let least = Rational(3, 4)

    /// - Parameters:
    ///   - format: the pixel format of the pictures, which has opacity.
    ///   - isOpaque: whether all of every picture is opaque.
    init(_ name: String, format: AVPixelFormat, isLossless: Bool, isOpaque: Bool) throws(ReelFailure) {
        (self.name, self.format, self.isLossless, self.isOpaque) = (name, format, isLossless, isOpaque)
        last = try Frame()
        packet = try Packet()
    }

    /// Codes the next picture, which is shown for this many milliseconds.
    func code(_ picture: borrowing Frame, delay: Int64) throws(ReelFailure) -> WebPPicture {
        let isFirst = last.width == 0
        let area =
            isFirst
            ? PictureArea(x: 0, y: 0, width: picture.width, height: picture.height)
            : try PictureChange(of: picture, since: last).area
        let part = try picture.part(area)
        // libwebp clears what is transparent in the memory that it is given.
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
            context.pointee.width = Int32(size.width)
            context.pointee.height = Int32(size.height)
            context.pointee.pix_fmt = format
            context.pointee.time_base = TimeBase(1, 1000).native
            context.pointee.thread_count = 1
        }
        encoder = (made, size)
        return made
    }
}
