internal import CFFmpeg
internal import ReelCore

extension NativeStream {
    var parameters: AVCodecParameters { pointee.codecpar.pointee }
    var timeBase: TimeBase { TimeBase(pointee.time_base) }
    /// The stream's place in its file.
    var number: Int { Int(pointee.index) }
}

extension VideoStream {
    init(native stream: NativeStream) {
        let parameters = stream.parameters
        let format = AVPixelFormat(parameters.format)
        let matrix = stream.sideData(AV_PKT_DATA_DISPLAYMATRIX, as: InlineArray<9, Int32>.self)
        self.init(
            index: stream.number, codec: parameters.codec_id.name, width: Int(parameters.width),
            height: Int(parameters.height), pixelFormat: format.name, timeBase: stream.timeBase,
            frameRate: rate(stream.pointee.avg_frame_rate) ?? rate(stream.pointee.r_frame_rate),
            sampleAspectRatio: Rational(stream.pointee.sample_aspect_ratio) ?? Rational(parameters.sample_aspect_ratio),
            displayMatrix: matrix.map { matrix in matrix.indices.map { matrix[$0] } },
            colour: ColourTags(native: parameters),
            fieldOrder: FieldOrder(native: parameters.field_order), reorderDepth: Int(parameters.video_delay),
            frameBytes: decodedBytes(format, width: parameters.width, height: parameters.height),
            details: TrackDetails(native: stream))
        profile = known(avcodec_profile_name(parameters.codec_id, parameters.profile))
        level = parameters.level >= 0 ? Int(parameters.level) : nil
        masteringDisplay = stream.sideData(AV_PKT_DATA_MASTERING_DISPLAY_METADATA, as: AVMasteringDisplayMetadata.self)
            .flatMap(MasteringDisplay.init(native:))
        contentLight = stream.sideData(AV_PKT_DATA_CONTENT_LIGHT_LEVEL, as: AVContentLightMetadata.self).map(
            ContentLight.init(native:))
    }

    /// A frame's duration at the average rate; at least a tick.
    var nominalDuration: Ticks {
        let seconds = frameRate.map { Rational(1) / $0 } ?? Rational(1, 25)
        return Ticks(min(max(1, timeBase.ticks(in: seconds, rounding: .nearest)), Timestamp.bound))
    }
}

extension FieldOrder {
    init(native: AVFieldOrder) {
        switch native {
        case AV_FIELD_PROGRESSIVE: self = .progressive
        case AV_FIELD_TT, AV_FIELD_TB: self = .topFirst
        case AV_FIELD_BB, AV_FIELD_BT: self = .bottomFirst
        default: self = .unknown
        }
    }

    var native: AVFieldOrder {
        switch self {
        case .unknown: AV_FIELD_UNKNOWN
        case .progressive: AV_FIELD_PROGRESSIVE
        case .topFirst: AV_FIELD_TT
        case .bottomFirst: AV_FIELD_BB
        }
    }
}

extension TrackDetails {
    private static let names: [(Int32, String)] = [
        (AV_DISPOSITION_DEFAULT, "default"), (AV_DISPOSITION_DUB, "dub"), (AV_DISPOSITION_ORIGINAL, "original"),
        (AV_DISPOSITION_COMMENT, "comment"), (AV_DISPOSITION_LYRICS, "lyrics"), (AV_DISPOSITION_KARAOKE, "karaoke"),
        (AV_DISPOSITION_FORCED, "forced"), (AV_DISPOSITION_HEARING_IMPAIRED, "hearing_impaired"),
        (AV_DISPOSITION_VISUAL_IMPAIRED, "visual_impaired"), (AV_DISPOSITION_CLEAN_EFFECTS, "clean_effects"),
        (AV_DISPOSITION_CAPTIONS, "captions"), (AV_DISPOSITION_DESCRIPTIONS, "descriptions"),
        (AV_DISPOSITION_METADATA, "metadata"),
    ]

    init(native stream: NativeStream) {
        let found = entries(of: stream.pointee.metadata)
        let flags = stream.pointee.disposition
        self.init(
            language: found.value(of: "language").flatMap { $0 == "und" ? nil : $0 }, title: found.value(of: "title"),
            dispositions: Self.names.filter { flags & $0.0 != 0 }.map(\.1))
    }

    var flags: Int32 { Self.names.filter { dispositions.contains($0.1) }.reduce(0) { $0 | $1.0 } }
}

/// libavutil's description of a channel layout: "stereo" or "6 channels".
func layoutName(_ layout: AVChannelLayout) -> String {
    var (layout, usual) = (layout, AVChannelLayout())
    // A layout without an order states only the number of channels; use the default layout for it.
    if layout.order == AV_CHANNEL_ORDER_UNSPEC {
        av_channel_layout_default(&usual, layout.nb_channels)
        if usual.order != AV_CHANNEL_ORDER_UNSPEC { layout = usual }
    }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        av_channel_layout_describe(&layout, buffer.baseAddress, buffer.count)
        return buffer.baseAddress.map { String(cString: $0) } ?? ""
    }
}

/// Frames per second; nil if unspecified, and for rates above the 90 kHz clock or below one frame a day.
private func rate(_ native: AVRational) -> Rational? {
    Rational(native).flatMap { (Rational(1, 86_400)...Rational(90_000)).contains($0) ? $0 : nil }
}

/// Bytes of one decoded frame in the layout of libavcodec's default allocator: dimensions rounded up to whole blocks,
/// lines to 64 bytes, with a margin after each plane.
func decodedBytes(_ format: AVPixelFormat, width: Int32, height: Int32) -> Int64 {
    let whole = Int64(width) * Int64(height) * 8 + 65536
    // A damaged header may state sizes near the limit of 32 bits.
    guard max(width, height) < Int32.max - 127 else { return whole }
    let nominal = av_image_get_buffer_size(format, (width + 127) & ~127, (height + 31) & ~31, 64)
    guard nominal > 0 else { return whole }
    return Int64(nominal) + 4 * 1024
}

extension CodecParameters {
    init(native parameters: AVCodecParameters) {
        self.init(
            extradata: Hexadecimal.text(parameters.header), frameSize: Int(parameters.frame_size),
            blockAlign: Int(parameters.block_align), bitrate: parameters.bit_rate, profile: Int(parameters.profile),
            bitsPerCodedSample: Int(parameters.bits_per_coded_sample),
            bitsPerRawSample: Int(parameters.bits_per_raw_sample), seekPreroll: Int(parameters.seek_preroll))
    }
}

extension AudioTrack {
    /// Fills in the parameters of a stream that holds the track's packets unchanged. The first `padding` samples of its
    /// first packet are not to be heard.
    func describe(into parameters: NativeParameters, padding: Int) throws(ReelFailure) {
        guard let descriptor = avcodec_descriptor_get_by_name(codec) else {
            throw ReelFailure(.codecAbsent(codec: codec, role: .codec))
        }
        parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
        parameters.pointee.codec_id = descriptor.pointee.id
        parameters.pointee.format = av_get_sample_fmt(sampleFormat).rawValue
        parameters.pointee.sample_rate = Int32(clamping: sampleRate)
        try check(
            av_channel_layout_from_string(&parameters.pointee.ch_layout, channelLayout), .layOutChannels, channelLayout)
        let stored = self.parameters
        parameters.pointee.frame_size = Int32(clamping: stored.frameSize)
        parameters.pointee.block_align = Int32(clamping: stored.blockAlign)
        parameters.pointee.bit_rate = stored.bitrate
        parameters.pointee.profile = Int32(clamping: stored.profile)
        parameters.pointee.bits_per_coded_sample = Int32(clamping: stored.bitsPerCodedSample)
        parameters.pointee.bits_per_raw_sample = Int32(clamping: stored.bitsPerRawSample)
        parameters.pointee.seek_preroll = Int32(clamping: stored.seekPreroll)
        parameters.pointee.initial_padding = Int32(clamping: padding)
        try setHeader(header(padding: padding), of: parameters)
    }

    /// The number of samples at the start of an Opus stream that are not to be heard (RFC 7845 5.1); 0 for other
    /// codecs.
    var opusPreSkip: Int {
        let header = payload(ofHexadecimal: parameters.extradata)
        return codec == "opus" && header.count >= 12 ? Int(header[10]) | Int(header[11]) << 8 : 0
    }

    private func header(padding: Int) -> [UInt8] {
        var bytes = payload(ofHexadecimal: parameters.extradata)
        // RFC 7845 5.1: the identification header says how many samples to skip.
        if codec == "opus", bytes.count >= 12 {
            (bytes[10], bytes[11]) = (UInt8(truncatingIfNeeded: padding), UInt8(truncatingIfNeeded: padding >> 8))
        }
        return bytes
    }
}

/// The bytes of a text of hexadecimal digits. Other characters are ignored.
private func payload(ofHexadecimal text: String) -> [UInt8] {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension CodedVideo {
    /// The coding of a stream as libavformat knows it; no container has been tried.
    init(native parameters: AVCodecParameters) {
        self.init(
            fourCC: parameters.codec_tag, extradata: Array(parameters.header), profile: parameters.profile,
            level: parameters.level, bitsPerCodedSample: parameters.bits_per_coded_sample, containers: [])
    }

    /// Fills in a stream's parameters for the muxer with this name.
    func describe(_ stream: VideoStream, for muxer: String, into parameters: NativeParameters) throws(ReelFailure) {
        guard let descriptor = avcodec_descriptor_get_by_name(stream.codec) else {
            throw ReelFailure(.codecAbsent(codec: stream.codec, role: .codec))
        }
        // A context without a codec takes the values that an encoder would have set.
        let context = try allocated(avcodec_alloc_context3(nil), .describeStream)
        defer { release(context, avcodec_free_context) }
        context.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        context.pointee.codec_id = descriptor.pointee.id
        context.pointee.width = Int32(stream.width)
        context.pointee.height = Int32(stream.height)
        context.pointee.pix_fmt = av_get_pix_fmt(stream.pixelFormat)
        context.pointee.profile = profile
        context.pointee.level = level
        context.pointee.bits_per_coded_sample = bitsPerCodedSample
        context.pointee.field_order = stream.fieldOrder.native
        context.pointee.sample_aspect_ratio = stream.sampleAspectRatio.native
        stream.colour.apply(to: context)
        try check(avcodec_parameters_from_context(parameters, context), .describeStream)
        parameters.pointee.codec_tag = muxerFourCC(fourCC, of: descriptor.pointee.id, muxer: muxer)
        try setHeader(extradata, of: parameters)
    }
}

extension Container {
    /// The FourCC to pass to the muxer for a stream that an encoder described; 0 leaves the choice to the muxer.
    func fourCC(of encoded: AVCodecParameters) -> UInt32 {
        switch encoded.codec_id {
        // QuickTime and Apple's players recognise HEVC by this one.
        case AV_CODEC_ID_HEVC where isQuickTime: UInt32(fourCC: "hvc1")
        // The FourCC states the pixel format, or the profile.
        case AV_CODEC_ID_RAWVIDEO, AV_CODEC_ID_PRORES:
            muxerFourCC(encoded.codec_tag, of: encoded.codec_id, muxer: traits.muxer)
        default: 0
        }
    }
}

/// The FourCC if the muxer uses it for that codec, or has none of its own for the codec; otherwise 0.
func muxerFourCC(_ fourCC: UInt32, of codec: AVCodecID, muxer: String) -> UInt32 {
    guard let tables = av_guess_format(muxer, nil, nil)?.pointee.codec_tag else { return fourCC }
    var own: UInt32 = 0
    let isKnown = av_codec_get_id(tables, fourCC) == codec || av_codec_get_tag2(tables, codec, &own) == 0
    return isKnown ? fourCC : 0
}
