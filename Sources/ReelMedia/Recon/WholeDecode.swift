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

    init(stream: UnsafeMutablePointer<AVStream>, path: String) throws(ReelFailure) {
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
