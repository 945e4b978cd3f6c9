internal import CFFmpeg
internal import ReelCore

/// The first frame that decodes. It gives facts that some codecs state nowhere else, and shows whether anything decodes
/// at all.
final class FirstFrame {
    private let decoder: Decoder
    let frame: Frame
    /// The packet, counted in the order of the file, whose frame is shown first; nil while nothing has decoded.
    private(set) var packetNumber: Int?
    private(set) var isFound = false
    private var fed = 0

    /// The most packets that are tried if the start is damaged.
    private static let patience = 300

    init(stream: UnsafeMutablePointer<AVStream>, path: String) throws(ReelFailure) {
        decoder = try Decoder(stream: stream, threads: 1, path: path)
        frame = try Frame()
    }

    var needsMore: Bool { !isFound && fed < Self.patience }

    /// Decodes the next packet of the file. Its presentation time is overwritten with the packet's number, which the
    /// decoder passes on to the frame.
    func feed(_ packet: borrowing Packet) throws(ReelFailure) {
        packet.pts = Timestamp(Int64(fed))
        fed += 1
        _ = try decoder.send(packet)
        try receive()
    }

    /// Signals the end of the stream. Throws `.input` if nothing of it decoded.
    func finish(path: String) throws(ReelFailure) {
        guard needsMore else { return }
        try decoder.drain()
        try receive()
        guard isFound else { throw ReelFailure(.nothingDecodes(path: path)) }
    }

    private func receive() throws(ReelFailure) {
        guard !isFound, try decoder.receive(into: frame) == .frame else { return }
        isFound = true
        packetNumber = (frame.pts ?? frame.bestTimestamp).map { Int($0.ticks) }
    }
}

extension FirstFrame {
    /// Fills in signalling that the container does not state: colour, light, pixel shape. For size
    /// and format, the picture itself wins over the container.
    func complete(_ stream: inout VideoStream) {
        guard isFound else { return }
        (stream.width, stream.height) = (frame.width, frame.height)
        stream.pixelFormat = known(av_get_pix_fmt_name(frame.pixelFormat)) ?? stream.pixelFormat
        stream.frameBytes = max(
            stream.frameBytes, decodedBytes(frame.pixelFormat, width: Int32(frame.width), height: Int32(frame.height)))
        stream.colour.complete(with: ColourTags(native: frame))
        if let display = frame.sideData(AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, as: AVMasteringDisplayMetadata.self) {
            stream.masteringDisplay = stream.masteringDisplay ?? MasteringDisplay(native: display)
        }
        if let light = frame.sideData(AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, as: AVContentLightMetadata.self) {
            stream.contentLight = stream.contentLight ?? ContentLight(native: light)
        }
        if stream.sampleAspectRatio == nil {
            stream.sampleAspectRatio = Rational(frame.native.pointee.sample_aspect_ratio)
        }
    }

    /// The side data of the stream and the frame that no encoder can write again.
    func losses(besides stream: UnsafeMutablePointer<AVStream>) -> [Diagnostic] {
        let vision = stream.sideData(AV_PKT_DATA_DOVI_CONF, as: AVDOVIDecoderConfigurationRecord.self)
        let isInFrame = frame.has(AV_FRAME_DATA_DOVI_RPU_BUFFER) || frame.has(AV_FRAME_DATA_DOVI_METADATA)
        return DroppedSideData.dolbyVision(vision, isInFrame: isInFrame) + DroppedSideData.of(frame)
    }

    /// The field order that the decoder reports for the frame.
    var fieldOrder: FieldOrder {
        guard isFound else { return .unknown }
        guard reel_frame_is_interlaced(frame.native) != 0 else { return .progressive }
        return reel_frame_top_field_first(frame.native) != 0 ? .topFirst : .bottomFirst
    }
}

extension ColourTags {
    /// Takes tags that the container does not state from the frame. If the frame says HLG, that wins: broadcasters
    /// write bt2020-10 for old receivers and add the true curve as a preferred one (ITU-T H.265 D.3.39), which only the
    /// decoder reads.
    mutating func complete(with frame: ColourTags) {
        range = range ?? frame.range
        primaries = primaries ?? frame.primaries
        transfer = frame.transfer == "arib-std-b67" ? frame.transfer : transfer ?? frame.transfer
        matrix = matrix ?? frame.matrix
        chromaLocation = chromaLocation ?? frame.chromaLocation
    }
}
