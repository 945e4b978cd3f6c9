internal import CFFmpeg
internal import ReelCore

extension VideoStream {
    /// A stream's parameters as libavformat knows them, in reel's types.
    init(native stream: UnsafeMutablePointer<AVStream>) {
        let parameters = stream.pointee.codecpar.pointee
        let format = AVPixelFormat(parameters.format)
        self.init(
            index: Int(stream.pointee.index), codec: String(cString: avcodec_get_name(parameters.codec_id)),
            width: Int(parameters.width), height: Int(parameters.height),
            pixelFormat: known(av_get_pix_fmt_name(format)) ?? "unknown",
            timeBase: TimeBase(stream.pointee.time_base),
            frameRate: rate(stream.pointee.avg_frame_rate) ?? rate(stream.pointee.r_frame_rate),
            sampleAspectRatio: Rational(stream.pointee.sample_aspect_ratio) ?? Rational(parameters.sample_aspect_ratio),
            displayMatrix: rotation(of: stream), colour: ColourTags(native: parameters),
            fieldOrder: FieldOrder(native: parameters.field_order), reorderDepth: Int(parameters.video_delay),
            frameBytes: decodedBytes(
                AVPixelFormat(parameters.format), width: parameters.width, height: parameters.height),
            details: TrackDetails(native: stream))
        profile = known(avcodec_profile_name(parameters.codec_id, parameters.profile))
        level = parameters.level >= 0 ? Int(parameters.level) : nil
        masteringDisplay = stream.sideData(
            AV_PKT_DATA_MASTERING_DISPLAY_METADATA, as: AVMasteringDisplayMetadata.self
        ).flatMap(MasteringDisplay.init(native:))
        contentLight = stream.sideData(AV_PKT_DATA_CONTENT_LIGHT_LEVEL, as: AVContentLightMetadata.self)
            .map(ContentLight.init(native:))
    }

    /// A frame's duration at the average rate; at least a tick.
    var nominalDuration: Ticks {
        let seconds = frameRate.map { Rational(1) / $0 } ?? Rational(1, 25)
        return Ticks(min(max(1, timeBase.ticks(in: seconds, rounding: .nearest)), Timestamp.bound))
    }
}

extension ColourTags {
    init(native parameters: AVCodecParameters) {
        self.init(
            range: known(av_color_range_name(parameters.color_range)),
            primaries: known(av_color_primaries_name(parameters.color_primaries)),
            transfer: known(av_color_transfer_name(parameters.color_trc)),
            matrix: known(av_color_space_name(parameters.color_space)),
            chromaLocation: known(av_chroma_location_name(parameters.chroma_location)))
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

    init(native stream: UnsafeMutablePointer<AVStream>) {
        let found = entries(of: stream.pointee.metadata)
        let value = { (name: String) in found.first { $0.name.lowercased() == name }?.value }
        let flags = stream.pointee.disposition
        self.init(
            language: value("language").flatMap { $0 == "und" ? nil : $0 }, title: value("title"),
            dispositions: Self.names.filter { flags & $0.0 != 0 }.map(\.1))
    }

    /// libavformat's bits for the dispositions.
    var flags: Int32 {
        Self.names.filter { dispositions.contains($0.1) }.reduce(0) { $0 | $1.0 }
    }
}

/// libavutil's description of a channel layout: "stereo" or "6 channels".
func layoutName(_ layout: inout AVChannelLayout) -> String {
    // A layout without an order states only the number of channels; use the default layout for it.
    if layout.order == AV_CHANNEL_ORDER_UNSPEC {
        var usual = AVChannelLayout()
        av_channel_layout_default(&usual, layout.nb_channels)
        if usual.order != AV_CHANNEL_ORDER_UNSPEC { return text(&usual) }
    }
    return text(&layout)

    func text(_ layout: inout AVChannelLayout) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            av_channel_layout_describe(&layout, buffer.baseAddress, buffer.count)
            return buffer.baseAddress.map { String(cString: $0) } ?? ""
        }
    }
}

/// The display matrix from the stream's side data.
private func rotation(of stream: UnsafeMutablePointer<AVStream>) -> [Int32]? {
    var size = 0
    guard let data = reel_stream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size), size >= 36 else { return nil }
    let bytes = UnsafeRawBufferPointer(start: data, count: 36)
    return (0..<9).map { bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Int32.self) }
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
