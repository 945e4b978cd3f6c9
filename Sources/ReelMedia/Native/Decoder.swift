internal import CFFmpeg
internal import Glibc
internal import ReelCore
internal import Synchronization

final class Decoder {
    private var native: NativeContext
    private let name: String
    /// The number of errors that the decoder has reported.
    private(set) var complaints = 0
    /// A reference to the last frame, held until the next comes; nil if the decoder need not be repeatable.
    private var kept: UnsafeMutablePointer<AVFrame>?
    private let log = DecoderLog()

    /// Opens the decoder that libavcodec prefers for the stream. Throws `.noDecoder` if there is none, and
    /// `.headerDamaged` if it does not open.
    ///
    /// With `isRepeatable`, the same packets give the same pictures each time, even damaged ones. If a decoder cannot
    /// decode a part of a picture, it leaves the old content of the memory there. So memory begins cleared, and each
    /// frame is held until the next has come, as `ffmpeg` does, which makes the decoder reuse memory in the same order.
    convenience init(stream: NativeStream, threads: Int, path: String, isRepeatable: Bool = false) throws(ReelFailure) {
        try self.init(
            parameters: stream.pointee.codecpar, timeBase: stream.timeBase, preferring: Self.withTransparency(stream),
            threads: threads, path: path, number: stream.number, isRepeatable: isRepeatable)
    }

    /// Opens the decoder of packets with these parameters, which may come from no file.
    init(
        parameters: UnsafePointer<AVCodecParameters>, timeBase: TimeBase,
        preferring preferred: UnsafePointer<AVCodec>? = nil, threads: Int, path: String, number: Int = 0,
        isRepeatable: Bool = false
    ) throws(ReelFailure) {
        if isRepeatable { reel_clear_memory() }
        kept = isRepeatable ? try allocated(av_frame_alloc(), .makeFrame) : nil
        let codecID = parameters.pointee.codec_id
        name = codecID.name
        guard let codec = preferred ?? avcodec_find_decoder(codecID).map({ UnsafePointer($0) }) else {
            throw ReelFailure(.noDecoder(path: path, stream: number, codec: name))
        }
        native = try allocated(avcodec_alloc_context3(codec), .openDecoder)
        try check(avcodec_parameters_to_context(native, parameters), .openDecoder, name)
        native.pointee.pkt_timebase = timeBase.native
        native.pointee.thread_count = Int32(threads)
        reel_decoder_carries(native)
        log.follow(native)
        let code = avcodec_open2(native, codec, nil)
        guard code < 0 else { return }
        if code == reel_error_no_memory || code == reel_error_again {
            throw mediaFailure(reel_error_no_memory, .openDecoder, name)
        }
        throw ReelFailure(.headerDamaged(path: path, stream: number, codec: name))
    }

    /// The decoder of libvpx for a stream of VP8 or VP9 with transparency, which WebM stores beside the picture and
    /// which libavcodec's own decoders ignore. Nil for other streams, and if FFmpeg was built without libvpx.
    static func withTransparency(_ stream: NativeStream) -> UnsafePointer<AVCodec>? {
        let names = [AV_CODEC_ID_VP8: "libvpx", AV_CODEC_ID_VP9: "libvpx-vp9"]
        guard entries(of: stream.pointee.metadata).value(of: "alpha_mode") == "1",
            let name = names[stream.parameters.codec_id]
        else { return nil }
        return avcodec_find_decoder_by_name(name).map { UnsafePointer($0) }
    }

    deinit {
        release(native, avcodec_free_context)
        av_frame_free(&kept)
    }

    /// Significant bits of each sample; 0 if the codec does not say.
    var bitsPerSample: Int { Int(native.pointee.bits_per_raw_sample) }

    /// Whether one of several threads has logged something, and a frame may be damaged although it is not marked so. If
    /// each thread decodes a frame of its own, a frame may be given out before its thread has marked it.
    var mayHideDamage: Bool {
        let threads = native.pointee.active_thread_type
        return threads & FF_THREAD_FRAME != 0 && log.lines > 0
            || threads & FF_THREAD_SLICE != 0 && leavesFieldsUnmarked && log.errors > 0
    }

    /// Whether the decoder may leave out a part of a field and not mark the frame. It logs an error then, with one
    /// thread while it is given the packet.
    var leavesFieldsUnmarked: Bool {
        [AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO].contains(native.pointee.codec_id)
    }

    var loggedErrors: Int { log.errors }

    enum Fed {
        case accepted
        /// The packet was not taken: frames must be received first.
        case full
        /// The packet could not be decoded; the decoder continues with the next.
        case damaged
    }

    func send(_ packet: borrowing Packet) throws(ReelFailure) -> Fed {
        try fed(avcodec_send_packet(native, packet.native))
    }

    /// Tells the decoder that no packet follows, so that it gives out the frames that it holds back.
    func drain() throws(ReelFailure) { _ = try fed(avcodec_send_packet(native, nil)) }

    private func fed(_ code: Int32) throws(ReelFailure) -> Fed {
        switch code {
        case reel_error_again: return .full
        case reel_error_no_memory: throw mediaFailure(code, .decode, name)
        default:
            guard code < 0, code != reel_error_eof else { return .accepted }
            complaints += 1
            return .damaged
        }
    }

    enum Received { case frame, again, end }

    func receive(into frame: borrowing Frame) throws(ReelFailure) -> Received {
        // An error here concerns one frame inside the decoder. The frames after it may be whole, so ask again.
        for _ in 0..<1_000_000 {
            let code = avcodec_receive_frame(native, frame.native)
            switch code {
            case 0...:
                if let kept {
                    av_frame_unref(kept)
                    try check(av_frame_ref(kept, frame.native), .makeFrame)
                }
                return .frame
            case reel_error_again: return .again
            case reel_error_eof: return .end
            case reel_error_no_memory: throw mediaFailure(code, .decode, name)
            default: complaints += 1
            }
        }
        throw ReelFailure(.decoderStuck(codec: name))
    }

}

/// A copy of what a decoder needs to know of a stream, so that decoding can continue when the file is closed.
/// `@unchecked` because it never changes.
final class CodedStream: @unchecked Sendable {
    let parameters: NativeParameters
    let timeBase: TimeBase
    let number: Int
    /// The decoder to use; nil for the one that libavcodec prefers.
    let preferred: UnsafePointer<AVCodec>?
    /// What failures call the file.
    let path: String

    init(_ stream: NativeStream, path: String) throws(ReelFailure) {
        self.path = path
        parameters = try allocated(avcodec_parameters_alloc(), .describeStream)
        timeBase = stream.timeBase
        number = stream.number
        preferred = Decoder.withTransparency(stream)
        try check(avcodec_parameters_copy(parameters, stream.pointee.codecpar), .describeStream)
    }

    deinit { release(parameters, avcodec_parameters_free) }
}

extension Decoder {
    /// The picture that a decoder gives for a packet if it has seen no other; nil unless that is one whole frame.
    static func decodingAlone(_ packet: borrowing Packet, of stream: CodedStream) throws(ReelFailure) -> Frame? {
        let decoder = try Decoder(
            parameters: stream.parameters, timeBase: stream.timeBase, preferring: stream.preferred, threads: 1,
            path: stream.path, number: stream.number)
        guard try decoder.send(packet) == .accepted else { return nil }
        try decoder.drain()
        let frame = try Frame()
        guard try decoder.receive(into: frame) == .frame else { return nil }
        let another = try Frame()
        guard !frame.isDamaged, try decoder.receive(into: another) == .end else { return nil }
        return frame
    }
}

extension Packet {
    /// Whether side data of the packet changes how the decoder continues.
    var changesParameters: Bool {
        [AV_PKT_DATA_PALETTE, AV_PKT_DATA_NEW_EXTRADATA, AV_PKT_DATA_PARAM_CHANGE, AV_PKT_DATA_ENCRYPTION_INFO]
            .contains { av_packet_get_side_data(native, $0, nil) != nil }
    }
}

/// Counts the lines that a decoder logs, on all of its threads. Each thread may use its own copy of the decoder's
/// context.
final class DecoderLog: Sendable {
    private let allLines = Atomic(0)
    private let allErrors = Atomic(0)

    /// The number of errors, warnings and notes.
    var lines: Int { allLines.load(ordering: .relaxed) }
    var errors: Int { allErrors.load(ordering: .relaxed) }

    /// Counts the lines of this decoder. The log must live as long as the decoder, which does not retain it. Call it
    /// before the decoder is opened.
    func follow(_ decoder: NativeContext) { decoder.pointee.opaque = Unmanaged.passUnretained(self).toOpaque() }

    /// Takes a line that libav* logs, from any thread.
    static func note(level: Int32, of context: UnsafeMutableRawPointer?) {
        // The structure that logs begins with a pointer to its class. Only decoders have a `DecoderLog` as `opaque`.
        guard level <= AV_LOG_INFO, let context, context.load(as: UnsafePointer<AVClass>?.self) == avcodec_get_class(),
            let opaque = context.assumingMemoryBound(to: AVCodecContext.self).pointee.opaque
        else { return }
        let log = Unmanaged<DecoderLog>.fromOpaque(opaque).takeUnretainedValue()
        log.allLines.wrappingAdd(1, ordering: .relaxed)
        if level <= AV_LOG_ERROR { log.allErrors.wrappingAdd(1, ordering: .relaxed) }
    }
}

/// Counts the errors that libav* logs on the calling thread. Some decoders make up a part of a frame and do not mark
/// it, and some demuxers skip a damaged part and return no error, but all of them log one.
enum LoggedErrors {
    /// All errors so far. A decoder with one thread runs on its caller's, so its errors count here.
    static var count: Int { all.value }

    /// The errors so far that demuxers logged. Errors of the parsers and decoders that a demuxer calls do not count.
    static var ofDemuxers: Int { demuxers.value }

    private static let (all, demuxers) = (Counter(), Counter())

    /// Counts errors from now on. They are still written to standard error.
    static func listen() {
        av_log_set_callback { context, level, format, arguments in
            if level <= AV_LOG_ERROR {
                LoggedErrors.all.increase()
                if reel_is_demuxer(context) != 0 { LoggedErrors.demuxers.increase() }
            }
            DecoderLog.note(level: level, of: context)
            guard let arguments else { return }
            av_log_default_callback(context, level, format, arguments)
        }
    }

    /// A count of each thread, which is stored as the value of a pointer.
    private struct Counter {
        private let key = {
            var key = pthread_key_t()
            return pthread_key_create(&key, nil) == 0 ? key : nil
        }()

        var value: Int { key.map { Int(bitPattern: pthread_getspecific($0)) } ?? 0 }

        func increase() {
            if let key { pthread_setspecific(key, UnsafeRawPointer(bitPattern: value + 1)) }
        }
    }
}
