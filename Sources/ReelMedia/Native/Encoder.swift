internal import CFFmpeg
internal import Crypto
internal import ReelCore

/// An open encoder, for video or audio.
final class Encoder {
    private var native: UnsafeMutablePointer<AVCodecContext>
    let name: String
    private var isOpen = false
    private var isFinished = false
    private var lastSent: Int64 = -1
    /// By how much the quantiser of the first picture differs from the encoder's own choice, as a part of its range.
    var firstPictureOffset: Rational?

    /// Allocates the encoder of that name, lets `configure` set its parameters, and opens it. `options` are the
    /// encoder's own; an unknown one throws `.settingUnknown`.
    init(
        _ name: String, options: [MediaOption],
        configure: (UnsafeMutablePointer<AVCodecContext>) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        self.name = name
        guard let codec = avcodec_find_encoder_by_name(name) else {
            throw ReelFailure(.encoderAbsent(encoder: name))
        }
        native = try allocated(avcodec_alloc_context3(codec), .openEncoder)
        native.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        native.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
        try configure(native)
        var dictionary = NativeDictionary(options)
        let fits = AddressLimit.exceed(if: EncoderTraits.named(name).hangsUnlessFed) {
            reel_open_encoder(native, codec, &dictionary.native)
        }
        let code = fits.result
        guard code >= 0 else {
            if code == reel_error_no_memory { throw mediaFailure(code, .openEncoder, name) }
            if let refusal = sizeRefusal { throw refusal }
            throw ReelFailure(.encoderRefuses(encoder: name, settings: options, said: libavMessage(code)))
        }
        isOpen = true
        if let unknown = dictionary.names.first {
            throw ReelFailure(.settingUnknown(encoder: name, setting: unknown))
        }
        guard fits.isWithin else {
            AddressLimit.exceed(if: true) { try? finishWithBlankPicture() }
            throw ReelFailure(.outOfMemory(step: .openEncoder, subject: name))
        }
    }

    /// The encoder's row in the table of traits; defaults for an audio encoder.
    var traits: EncoderTraits { EncoderTraits.named(name) }

    deinit {
        if traits.hangsUnlessFed, isOpen, !isFinished { try? finishWithBlankPicture() }
        var context: UnsafeMutablePointer<AVCodecContext>? = native
        avcodec_free_context(&context)
    }

    var timeBase: TimeBase { TimeBase(native.pointee.time_base) }
    var sampleFormat: AVSampleFormat { native.pointee.sample_fmt }
    var sampleRate: Int { Int(native.pointee.sample_rate) }
    /// Samples per channel that each frame must have; 0 if any number will do.
    var frameSize: Int { Int(native.pointee.frame_size) }
    /// Samples of priming before the first that is heard.
    var initialPadding: Int { Int(native.pointee.initial_padding) }
    /// The number of packets by which a frame may be later in decode order than in presentation order.
    var reorderDepth: Int { max(Int(native.pointee.has_b_frames), traits.leastReorderDepth) }
    var channelLayout: AVChannelLayout { native.pointee.ch_layout }

    /// SHA-256 of the extradata; that of no bytes if there is none.
    var extradataHash: String {
        Hexadecimal.text(SHA256.hash(data: extradata))
    }

    /// The codec's header, which containers store before the stream. Valid as long as the encoder.
    var extradata: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: native.pointee.extradata, count: Int(native.pointee.extradata_size))
    }

    /// Why the encoder may have refused the size of the pictures: pairs of pixels that share chroma do not fill it. Nil if
    /// they do.
    private var sizeRefusal: ReelFailure? {
        let (width, height) = (Int(native.pointee.width), Int(native.pointee.height))
        guard let format = av_pix_fmt_desc_get(native.pointee.pix_fmt),
            width % (1 << Int(format.pointee.log2_chroma_w)) != 0
                || height % (1 << Int(format.pointee.log2_chroma_h)) != 0
        else { return nil }
        return ReelFailure(
            .sizeIndivisible(
                encoder: name, size: PictureSize(width: width, height: height),
                pixelFormat: String(cString: format.pointee.name)))
    }

    /// Copies the encoder's parameters into those of a stream, for the muxer.
    func describe(into parameters: UnsafeMutablePointer<AVCodecParameters>) throws(ReelFailure) {
        try check(avcodec_parameters_from_context(parameters, native), .describeStream, name)
    }

    /// Gives the encoder one frame.
    func send(_ frame: borrowing Frame) throws(ReelFailure) {
        lastSent = frame.native.pointee.pts
        if let offset = firstPictureOffset { try frame.offsetQuantiser(by: offset) }
        firstPictureOffset = nil
        try checkEncoding(avcodec_send_frame(native, frame.native))
    }

    /// Tells the encoder that no frame follows.
    func finish() throws(ReelFailure) {
        isFinished = true
        try checkEncoding(avcodec_send_frame(native, nil))
    }

    /// Throws the failure for an error of the encoder. libx264 and others report a failed allocation as an error like any other.
    private func checkEncoding(_ code: Int32) throws(ReelFailure) {
        if code < 0, AddressLimit.isNearlyReached { throw ReelFailure(.outOfMemory(step: .encode, subject: name)) }
        try check(code, .encode, name)
    }

    /// Feeds one picture and takes all packets, since this encoder would hang if it were closed unfed.
    private func finishWithBlankPicture() throws(ReelFailure) {
        let frame = try Frame()
        let packet = try Packet()
        frame.native.pointee.format = native.pointee.pix_fmt.rawValue
        frame.native.pointee.width = native.pointee.width
        frame.native.pointee.height = native.pointee.height
        try check(av_frame_get_buffer(frame.native, 0), .makeFrame)
        frame.pts = Timestamp(lastSent + 1)
        try send(frame)
        try finish()
        while try receive(into: packet) { packet.reset() }
    }

    /// Fills the packet with the next one that is ready; false if more frames are needed, or none will come.
    func receive(into packet: borrowing Packet) throws(ReelFailure) -> Bool {
        let code = avcodec_receive_packet(native, packet.native)
        if code == reel_error_again || code == reel_error_eof { return false }
        try checkEncoding(code)
        return true
    }
}
