internal import CFFmpeg
internal import ReelCore

/// Tests whether a container gives coded pictures back unchanged. libavformat's answers are no proof: it writes raw
/// video, and codecs with AVI tags, to Matroska and QuickTime, and reads some of it back as something else.
final class ContainerTrial {
    private let container: Container
    private let parameters: UnsafeMutablePointer<AVCodecParameters>

    /// `describe` sets the parameters of the stream for the muxer.
    init(
        _ container: Container, describe: (UnsafeMutablePointer<AVCodecParameters>) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        self.container = container
        parameters = try allocated(avcodec_parameters_alloc(), .describeStream)
        try describe(parameters)
    }

    deinit {
        var parameters: UnsafeMutablePointer<AVCodecParameters>? = parameters
        avcodec_parameters_free(&parameters)
    }

    /// Writes a packet that shows `picture` to a file in memory, and compares the packet that is read back: bytes, codec, picture.
    func givesBack(_ packet: borrowing Packet, showing picture: borrowing Frame) throws(ReelFailure) -> Bool {
        // A failure is an answer, so it is not logged.
        let level = av_log_get_level()
        av_log_set_level(AV_LOG_QUIET)
        defer { av_log_set_level(level) }
        let file = MemoryBytes(name: "a trial of \(container.rawValue)")
        do throws(ReelFailure) {
            try write(packet, to: file)
            return try isSame(file, packet, picture)
        } catch {
            guard error.cause != .limit else { throw error }
            return false
        }
    }

    private func write(_ packet: borrowing Packet, to file: MemoryBytes) throws(ReelFailure) {
        let muxer = try Muxer(file, format: container.traits.muxer)
        let base = TimeBase(1, 25)
        _ = try muxer.addStream(timeBase: base) { (added) throws(ReelFailure) in
            try check(avcodec_parameters_copy(added.pointee.codecpar, parameters), .describeStream)
        }
        try muxer.begin()
        let copy = try Packet()
        try check(av_packet_ref(copy.native, packet.native), .makePacket)
        (copy.pts, copy.dts, copy.duration, copy.streamIndex) = (Timestamp(0), Timestamp(0), Ticks(1), 0)
        try muxer.write(copy, timeBase: base)
        _ = try muxer.finish()
    }

    private func isSame(
        _ file: MemoryBytes, _ packet: borrowing Packet, _ picture: borrowing Frame
    ) throws(ReelFailure) -> Bool {
        let demuxer = try Demuxer(ByteReader(file, .output), purpose: .output)
        guard let found = demuxer.stream(0), found.pointee.codecpar.pointee.codec_id == parameters.pointee.codec_id
        else { return false }
        let before = try PayloadDigest(parameters: parameters.pointee)
        let after = try PayloadDigest(parameters: found.pointee.codecpar.pointee)
        let back = try Packet()
        guard try demuxer.read(into: back) else { return false }
        before.add(packet)
        after.add(back)
        guard before.finish() == after.finish(),
            let shown = try Decoder.decodingAlone(back, of: CodedStream(found), path: file.name),
            shown.pixelFormat == picture.pixelFormat, shown.width == picture.width, shown.height == picture.height
        else { return false }
        return try shown.pixels() == picture.pixels()
    }
}
