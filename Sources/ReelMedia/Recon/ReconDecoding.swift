internal import CFFmpeg
internal import Dispatch
internal import ReelCore

/// Decodes the whole video packet by packet while it is read, and keeps the facts of its frames.
final class WholeDecode {
    private let decoder: Decoder
    private let frame: Frame
    private let album: Album
    private var fed = 0
    /// The times of packets that the decoder rejected (the first few and the last), and their number.
    private var refused: [Timestamp?] = []
    /// Packets at which the decoder logged an error.
    private var troubled: Set<Int32> = []

    init(stream: NativeStream, path: String) throws(ReelFailure) {
        // Passes decode with the same number of threads: with more, damaged pictures look different.
        decoder = try Decoder(stream: stream, threads: 1, path: path, isRepeatable: true)
        frame = try Frame()
        album = try Album()
    }

    func feed(_ packet: borrowing Packet) throws(ReelFailure) {
        reel_packet_carry(packet.native, Int64(fed))
        fed += 1
        let complaints = decoder.complaints
        let errors = LoggedErrors.count
        while try decoder.send(packet) == .full { try receive() }
        try receive()
        if decoder.complaints > complaints { refused.append(packet.pts ?? packet.dts) }
        if LoggedErrors.count > errors || packet.isCorrupt { troubled.insert(Int32(fed - 1)) }
    }

    /// Signals the end of the stream. Returns the frames in the order in which they were shown.
    func finish() throws(ReelFailure) -> [ShownFrame] {
        try decoder.drain()
        try receive()
        return album.finish().map { frame in
            var frame = frame
            if troubled.contains(frame.packet) { frame.picture.isDamaged = true }
            return frame
        }
    }

    /// A diagnostic for packets that did not decode; nil if all did.
    func damage(of stream: VideoStream, from startTime: Rational) -> Diagnostic? {
        guard !refused.isEmpty else { return nil }
        let times = refused.compactMap(\.self).map { stream.timeBase.seconds($0) - startTime }
        return .packetsUndecoded(packets: refused.count, first: times.min(), last: times.max())
    }

    private func receive() throws(ReelFailure) {
        while try decoder.receive(into: frame) == .frame {
            // If the decoder lost the packet's number, the frame most likely comes from the packet given last.
            let carried = reel_frame_carried(frame.native)
            let packet = (0..<Int64(fed)).contains(carried) ? Int(carried) : fed - 1
            album.add(frame, from: packet)
        }
    }
}

/// Computes hash and likeness of each picture on a thread of its own, while the next one is decoded. `@unchecked`
/// because the picture belongs to the thread from when it is filled until it is free, and the frames until the thread
/// has finished.
private final class Album: @unchecked Sendable {
    private let thread = WorkQueue()
    /// Signals that the thread does not use `picture`.
    private let isFree = DispatchSemaphore(value: 0)
    private let picture: Frame
    private let digest: PictureDigest
    private var frames: [ShownFrame] = []
    private var firstFormat: AVPixelFormat?

    init() throws(ReelFailure) {
        picture = try Frame()
        digest = try PictureDigest()
        isFree.signal()
    }

    /// Takes the picture; the frame can be filled again. Waits until the previous picture is released, so that the
    /// decoder gets its memory back in the same order every time: see `Decoder.init`.
    func add(_ frame: borrowing Frame, from packet: Int) {
        isFree.wait()
        picture.take(frame)
        thread.add { [self] in
            describe(packet: Int32(packet))
            picture.reset()
            isFree.signal()
        }
    }

    func finish() -> [ShownFrame] {
        thread.wait()
        return frames
    }

    private func describe(packet: Int32) {
        var described = digest.describe(picture)
        let format = picture.pixelFormat.withoutRange
        described.hasOtherFormat = format != firstFormat ?? format
        firstFormat = firstFormat ?? format
        frames.append(ShownFrame(packet: packet, time: picture.bestTimestamp, picture: described))
    }
}

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

    init(stream: NativeStream, path: String) throws(ReelFailure) {
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
        let display = frame.sideData(AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, as: AVMasteringDisplayMetadata.self)
        stream.masteringDisplay = stream.masteringDisplay ?? display.flatMap(MasteringDisplay.init(native:))
        let light = frame.sideData(AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, as: AVContentLightMetadata.self)
        stream.contentLight = stream.contentLight ?? light.map(ContentLight.init(native:))
        if stream.sampleAspectRatio == nil {
            stream.sampleAspectRatio = Rational(frame.native.pointee.sample_aspect_ratio)
        }
    }

    /// The side data of the stream and the frame that no encoder can write again.
    func losses(besides stream: NativeStream) -> [Diagnostic] {
        let vision = stream.sideData(AV_PKT_DATA_DOVI_CONF, as: AVDOVIDecoderConfigurationRecord.self)
        let isInFrame = frame.has(AV_FRAME_DATA_DOVI_RPU_BUFFER) || frame.has(AV_FRAME_DATA_DOVI_METADATA)
        return DroppedSideData.dolbyVision(vision, isInFrame: isInFrame) + DroppedSideData.of(frame)
    }

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
