internal import CFFmpeg
internal import ReelCore

final class Encoder {
    private var native: NativeContext
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
        configure: (NativeContext) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        self.name = name
        guard let codec = avcodec_find_encoder_by_name(name) else { throw ReelFailure(.encoderAbsent(encoder: name)) }
        native = try allocated(avcodec_alloc_context3(codec), .openEncoder)
        native.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        native.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
        try configure(native)
        var dictionary = NativeDictionary(options)
        let (code, isWithin) = AddressLimit.exceed(if: EncoderTraits.named(name).hangsUnlessFed) {
            reel_open_encoder(native, codec, &dictionary.native)
        }
        guard code >= 0 else {
            if code == reel_error_no_memory { throw mediaFailure(code, .openEncoder, name) }
            if let refusal = sizeRefusal { throw refusal }
            throw ReelFailure(.encoderRefuses(encoder: name, settings: options, said: libavMessage(code)))
        }
        isOpen = true
        if let unknown = dictionary.names.first { throw ReelFailure(.settingUnknown(encoder: name, setting: unknown)) }
        guard isWithin else {
            AddressLimit.exceed(if: true) { try? finishWithBlankPicture() }
            throw ReelFailure(.outOfMemory(step: .openEncoder, subject: name))
        }
    }

    /// The encoder's row in the table of traits; defaults for an audio encoder.
    var traits: EncoderTraits { EncoderTraits.named(name) }

    deinit {
        if traits.hangsUnlessFed, isOpen, !isFinished { try? finishWithBlankPicture() }
        release(native, avcodec_free_context)
    }

    var sampleFormat: AVSampleFormat { native.pointee.sample_fmt }
    /// Samples per channel that each frame must have; 0 if any number will do.
    var frameSize: Int { Int(native.pointee.frame_size) }
    /// Samples per channel in each packet of sound but the last, as reel feeds the encoder.
    var samplesPerPacket: Int { frameSize > 0 ? frameSize : 1024 }
    /// Samples of priming before the first that is heard.
    var initialPadding: Int { Int(native.pointee.initial_padding) }
    /// The number of packets by which a frame may be later in decode order than in presentation order.
    var reorderDepth: Int { max(Int(native.pointee.has_b_frames), traits.leastReorderDepth) }

    /// SHA-256 of the extradata; of no bytes if the codec has no extradata.
    var extradataHash: String { sha256(of: extradata) }

    /// The codec's header, which containers store before the stream. Valid as long as the encoder.
    var extradata: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: native.pointee.extradata, count: Int(native.pointee.extradata_size))
    }

    /// Why the encoder may have refused the size of the pictures: pairs of pixels that share chroma do not fill it. Nil
    /// if they do.
    private var sizeRefusal: ReelFailure? {
        let (width, height) = (Int(native.pointee.width), Int(native.pointee.height))
        let shifts = native.pointee.pix_fmt.chromaShifts
        guard width % (1 << shifts.across) != 0 || height % (1 << shifts.down) != 0 else { return nil }
        return ReelFailure(
            .sizeIndivisible(
                encoder: name, size: PictureSize(width: width, height: height),
                pixelFormat: native.pointee.pix_fmt.name))
    }

    func describe(into parameters: NativeParameters) throws(ReelFailure) {
        try check(avcodec_parameters_from_context(parameters, native), .describeStream, name)
    }

    func send(_ frame: borrowing Frame) throws(ReelFailure) {
        lastSent = frame.native.pointee.pts
        if let offset = firstPictureOffset { try frame.offsetQuantiser(by: offset) }
        firstPictureOffset = nil
        try checkEncoding(avcodec_send_frame(native, frame.native))
    }

    func finish() throws(ReelFailure) {
        isFinished = true
        try checkEncoding(avcodec_send_frame(native, nil))
    }

    /// Throws the failure for an error of the encoder. libx264 and others report a failed allocation as an error like
    /// any other.
    private func checkEncoding(_ code: Int32) throws(ReelFailure) {
        if code < 0, AddressLimit.isNearlyReached { throw ReelFailure(.outOfMemory(step: .encode, subject: name)) }
        try check(code, .encode, name)
    }

    /// Feeds one picture and takes all packets, since this encoder would hang if it were closed unfed.
    private func finishWithBlankPicture() throws(ReelFailure) {
        let frame = try Frame()
        let packet = try Packet()
        try frame.allocate(Int(native.pointee.width), Int(native.pointee.height), native.pointee.pix_fmt)
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

extension Encoder {
    /// Opens the encoder of a job's video. The same target, stream and rate make the same parameters on any machine.
    /// `stream` is that of the source whose format the output has; `bitrate` is in bits per second, nil for constant
    /// quality.
    convenience init(_ target: VideoEncoding, stream: VideoStream, bitrate: Int64?) throws(ReelFailure) {
        let traits = target.traits
        // Encoders count thousands of bits, and refuse a rate of none: a black picture has so few. A picture that is shown
        // for a moment has too many.
        let bitrate = bitrate.map { min(max($0, 1000), traits.highestBitrate ?? .max) }
        let stream = stream.shown(in: .encode(target))
        // The plan does not contain options for the processor of this machine.
        let own = av_get_cpu_flags() & AV_CPU_FLAG_AVX512 != 0 ? traits.optionsBesideAVX512 : []
        try self.init(target.encoder, options: target.options + own) { (context) throws(ReelFailure) in
            let format = av_get_pix_fmt(target.format.pixelFormat)
            context.describePictures(
                target.format.width, target.format.height, format, target.format.timeBase, threads: target.threads)
            let rate = target.format.frameRate
            context.pointee.framerate = min(rate, traits.greatestRate ?? rate).native
            context.pointee.sample_aspect_ratio = target.format.sampleAspectRatio.native
            context.pointee.gop_size = Int32(target.keyFrameInterval)
            context.pointee.bit_rate = bitrate ?? 0
            stream.colour.converted(from: av_get_pix_fmt(stream.pixelFormat), to: format).apply(to: context)
            context.pointee.field_order = (target.format.fieldsVary ? .unknown : target.format.fieldOrder).native
            if stream.fieldOrder.isInterlaced, traits.tells.contains(.fields) {
                context.pointee.flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME
            }
            switch traits.rateControl {
            case .fixedQuantiserOfMPEG2:
                // The encoder takes the frame rate that it writes from here; it does not change timestamps.
                context.pointee.time_base = (Rational(1) / target.format.frameRate).native
                context.pointee.flags |= Int32(bitPattern: AV_CODEC_FLAG_CLOSED_GOP)
                // The parameters contain buffer size and maximum rate, which would follow the rate. So set them to
                // fixed values: the largest buffer of main profile (ISO 13818-2 table 8-14), and the greatest rate that
                // the field holds.
                if target.bitrate?.followsSource == true {
                    context.pointee.rc_buffer_size = 9_781_248
                    context.pointee.rc_max_rate = 0x3ffff * 400
                    context.pointee.bit_rate = min(context.pointee.bit_rate, context.pointee.rc_max_rate)
                }
                fallthrough
            case .fixedQuantiser:
                guard bitrate == nil else { break }
                context.pointee.flags |= AV_CODEC_FLAG_QSCALE
                context.pointee.global_quality = 2 * FF_QP2LAMBDA
            case .bounded:
                guard target.bitrate == .source, let bitrate else { break }
                context.pointee.rc_max_rate = bitrate * 3 / 2
                context.pointee.rc_buffer_size = Int32(clamping: bitrate)
            case .ceiling:
                if bitrate == nil { context.pointee.bit_rate = Int64(target.format.width * target.format.height) * 20 }
            case .own: break
            }
        }
        if bitrate == nil { firstPictureOffset = Self.keyFrameOffset(target, stream) }
    }

    /// With a constant rate factor and macroblock trees, x264 quantises the first picture of an encode like those
    /// predicted from it, and every later key frame finer by a factor of 1.4, its `ipratio`: 6·log₂ 1.4 = 2.913 steps.
    /// Each chunk is an encode of its own, so without a correction the key frames at all their starts would be too
    /// coarse for the pictures that refer to them.
    private static func keyFrameOffset(_ target: VideoEncoding, _ stream: VideoStream) -> Rational? {
        let preset = target.options.last { $0.name == "preset" }?.value ?? ""
        // libavcodec rejects offsets for interlaced pictures.
        guard target.traits.coarseFirstFrame?(preset) == true, !stream.fieldOrder.isInterlaced else { return nil }
        let depth = Int64(av_get_pix_fmt(target.format.pixelFormat).descriptor?.comp.0.depth ?? 8)
        return Rational(-2913, 1000 * (51 + 6 * (depth - 8)))
    }

    convenience init(_ target: AudioTarget, track: AudioTrack) throws(ReelFailure) {
        let source = av_get_sample_fmt(track.sampleFormat)
        try self.init(target.encoder, options: []) { (context) throws(ReelFailure) in
            context.pointee.sample_rate = Int32(target.sampleRate)
            context.pointee.time_base = AVRational(num: 1, den: Int32(target.sampleRate))
            context.pointee.bit_rate = target.bitrate ?? 0
            context.pointee.thread_count = 1
            context.pointee.sample_fmt = Self.sampleFormat(of: target.encoder, source: source)
            try check(
                av_channel_layout_from_string(&context.pointee.ch_layout, target.channelLayout),
                .layOutChannels, target.channelLayout)
        }
    }

    /// The source's own format if the encoder takes it, interleaved or planar, otherwise the encoder's widest.
    private static func sampleFormat(of encoder: String, source: AVSampleFormat) -> AVSampleFormat {
        let list = avcodec_find_encoder_by_name(encoder)?.pointee.sample_fmts
        guard let offered = elements(of: list, before: { $0 == AV_SAMPLE_FMT_NONE }) else { return AV_SAMPLE_FMT_FLTP }
        let packed = av_get_packed_sample_fmt(source)
        let widest = offered.max { av_get_bytes_per_sample($0) < av_get_bytes_per_sample($1) }
        return offered.first { av_get_packed_sample_fmt($0) == packed } ?? widest ?? AV_SAMPLE_FMT_FLTP
    }
}

extension VideoEncoding {
    /// What an encoder is asked for of the bits that it may make: it misses the mark a little.
    private static let aim = 0.985
    /// The most bits of a pixel that are worth asking for.
    private static let mostOfPixel = 4.0

    /// The rate of a chunk of these frames in bits per second, unless a search finds another; nil for constant quality.
    func rate(of frames: Range<Int>, in track: VideoTrack) -> Int64? {
        switch bitrate {
        case .constant(let bits): bits
        case .source, .share: track.bitrate(of: frames)
        case nil: nil
        }
    }

    /// The search for the rate at which a chunk of these frames has nearly as many bits as it may, or for the quality at
    /// which it has about as many as the source; nil if it may have any number.
    func search(of frames: Range<Int>, of clip: Clip, in track: VideoTrack) -> ChunkSearch? {
        if let finest = quality, let coarsest, coarsest > finest {
            return qualitySearch(finest...coarsest, frames, track)
        }
        return rateSearch(of: frames, of: clip, in: track).map { .rate($0) }
    }

    /// A source without bits for its frames says nothing. Larger pictures may have more bits.
    private func qualitySearch(
        _ range: ClosedRange<Double>, _ frames: Range<Int>, _ track: VideoTrack
    ) -> ChunkSearch? {
        let stream = track.stream
        let growth = Double(format.width * format.height) / Double(max(stream.width * stream.height, 1))
        let bits = track.bitsFromKey(of: frames) * max(growth, 1)
        guard bits >= 1, let halving = traits.coarsening?.halving else { return nil }
        return .quality(QualitySearch(like: bits, in: range, halving: halving))
    }

    private func rateSearch(of frames: Range<Int>, of clip: Clip, in track: VideoTrack) -> RateSearch? {
        guard case .share(let share) = bitrate else { return nil }
        let shown = clip.places(showing: frames)
        // Frames that are shown for no time have no rate.
        guard let first = shown.first, let last = shown.last else { return nil }
        let (start, end) = (clip.interval(at: first, in: track).start, clip.interval(at: last, in: track).end)
        let seconds = format.timeBase.seconds(end - start).approximate
        guard seconds > 0 else { return nil }
        let bits = share.approximate * track.bitsFromKey(of: frames)
        let highest = Self.mostOfPixel * Double(format.width * format.height * shown.count) / seconds
        return RateSearch(most: bits, from: Self.aim * bits / seconds, highest: highest)
    }
}

extension NativeContext {
    /// Tells an encoder the form and the clock of the pictures that it will get.
    func describePictures(_ width: Int, _ height: Int, _ format: AVPixelFormat, _ clock: TimeBase, threads: Int = 1) {
        (pointee.width, pointee.height, pointee.pix_fmt) = (Int32(width), Int32(height), format)
        pointee.time_base = clock.native
        pointee.thread_count = Int32(threads)
    }
}
