internal import CFFmpeg
internal import Glibc
internal import ReelCore

/// Tries whether a container gives coded pictures back as they were. libavformat's answers are no proof: it writes raw
/// video and codecs that AVI tags into Matroska and QuickTime, and reads some of it back as something else.
struct ContainerTrial {
    private let stream: VideoStream
    private let coded: CodedVideo

    init(_ stream: VideoStream, _ coded: CodedVideo) {
        self.stream = stream
        self.coded = coded
    }

    /// Writes a packet of the source's stream to a file in memory and compares what is read: bytes, parameters, picture.
    func givesBack(
        _ packet: borrowing Packet, of source: UnsafeMutablePointer<AVStream>, in container: Container
    ) throws(ReelFailure) -> Bool {
        guard let own = try Decoder.decodingAlone(packet, of: source, path: "the source") else { return false }
        // What fails is an answer, and no news.
        let level = av_log_get_level()
        av_log_set_level(AV_LOG_QUIET)
        defer { av_log_set_level(level) }
        do throws(ReelFailure) {
            return try MemoryFile().withPath { (path) throws(ReelFailure) in
                try write(packet, to: path, container)
                return try isSame(path, source.pointee.codecpar.pointee, packet, own)
            }
        } catch {
            guard error.cause != .limit else { throw error }
            return false
        }
    }

    private func write(
        _ packet: borrowing Packet, to path: String, _ container: Container
    ) throws(ReelFailure) {
        let muxer = try Muxer(path: path, format: container.muxer)
        let base = TimeBase(1, 25)
        _ = try muxer.addStream(timeBase: base) { (added) throws(ReelFailure) in
            try coded.describe(stream, for: container.muxer, into: added.pointee.codecpar)
        }
        try muxer.begin()
        let copy = try Packet()
        try check(av_packet_ref(copy.native, packet.native), "keeping a packet")
        (copy.pts, copy.dts, copy.duration, copy.streamIndex) = (Timestamp(0), Timestamp(0), Ticks(1), 0)
        try muxer.write(copy, timeBase: base)
        _ = try muxer.finish()
    }

    private func isSame(
        _ path: String, _ parameters: AVCodecParameters, _ packet: borrowing Packet, _ own: borrowing Frame
    ) throws(ReelFailure) -> Bool {
        let demuxer = try Demuxer(path: path)
        guard let found = demuxer.stream(0), found.pointee.codecpar.pointee.codec_id == parameters.codec_id else {
            return false
        }
        let digests = (
            try PayloadDigest(parameters: parameters), try PayloadDigest(parameters: found.pointee.codecpar.pointee)
        )
        let back = try Packet()
        guard try demuxer.read(into: back) else { return false }
        digests.0.add(packet)
        digests.1.add(back)
        guard digests.0.finish() == digests.1.finish(),
            let picture = try Decoder.decodingAlone(back, of: found, path: path),
            picture.pixelFormat == own.pixelFormat, picture.width == own.width, picture.height == own.height
        else { return false }
        return try picture.pixels() == own.pixels()
    }
}

/// A file that exists in memory only, as long as this value does.
private struct MemoryFile: ~Copyable {
    private let descriptor: Int32

    init() throws(ReelFailure) {
        descriptor = reel_memory_file()
        guard descriptor >= 0 else { throw mediaFailure(reel_error_no_memory, "making a file in memory") }
    }

    deinit { close(descriptor) }

    /// Runs `body` with a path by which the file can be opened.
    func withPath<R>(_ body: (String) throws(ReelFailure) -> R) throws(ReelFailure) -> R {
        try body("/proc/self/fd/\(descriptor)")
    }
}
