internal import CFFmpeg
internal import Glibc
internal import ReelCore

/// Decodes the pictures of a WebP file and shows each where it belongs.
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
        shown.native.pointee.format = AV_PIX_FMT_BGRA.rawValue
        shown.native.pointee.width = Int32(size.width)
        shown.native.pointee.height = Int32(size.height)
        try check(av_frame_get_buffer(shown.native, 0), .makeFrame)
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
