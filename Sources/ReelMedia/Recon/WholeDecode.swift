internal import CFFmpeg
internal import Dispatch
internal import ReelCore

/// Decodes the whole video packet by packet while it is read, and keeps what came out.
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
        album = try Album(digest: try PictureDigest())
    }

    /// Decodes the next packet of the file.
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

/// Computes hash and likeness of each picture on a thread of its own, while the next one is decoded.
private final class Album {
    private let thread = WorkQueue()
    /// Signals that no thread uses `sheet`.
    private let isFree = DispatchSemaphore(value: 0)
    private let sheet: Sheet
    private let pages: Pages

    init(digest: sending PictureDigest) throws(ReelFailure) {
        sheet = Sheet(picture: try Frame())
        pages = Pages(digest)
        isFree.signal()
    }

    deinit { thread.wait() }

    /// Takes the picture; the frame can be filled again. Waits until the previous picture is released, so that the
    /// decoder gets its memory back in the same order every time: see `Decoder.init`.
    func add(_ frame: borrowing Frame, from packet: Int) {
        isFree.wait()
        sheet.picture.take(frame)
        sheet.packet = Int32(packet)
        thread.add { [pages, sheet, isFree] in
            pages.add(sheet)
            sheet.picture.reset()
            isFree.signal()
        }
    }

    func finish() -> [ShownFrame] {
        thread.wait()
        return pages.frames
    }

    /// `@unchecked` because it belongs to the thread from when it is filled until it is free.
    private final class Sheet: @unchecked Sendable {
        let picture: Frame
        var packet: Int32 = 0

        init(picture: consuming Frame) { self.picture = picture }
    }

    /// `@unchecked` because only the thread uses it and, at the end, the caller that waits for the thread.
    private final class Pages: @unchecked Sendable {
        private let digest: PictureDigest
        private(set) var frames: [ShownFrame] = []
        private var firstFormat: AVPixelFormat?

        init(_ digest: PictureDigest) { self.digest = digest }

        func add(_ sheet: Sheet) {
            var picture = digest.describe(sheet.picture)
            let format = sheet.picture.pixelFormat.withoutRange
            picture.hasOtherFormat = format != firstFormat ?? format
            firstFormat = firstFormat ?? format
            frames.append(ShownFrame(packet: sheet.packet, time: sheet.picture.bestTimestamp, picture: picture))
        }
    }
}
