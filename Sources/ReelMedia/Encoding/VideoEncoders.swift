internal import CFFmpeg
internal import ReelCore

extension EncoderTraits {
    /// The encoder with this name, or the one for this codec; with default traits for any other encoder of libavcodec.
    static func chosen(by name: String) throws(ReelFailure) -> EncoderTraits {
        let known = asked(for: name)
        if let known, avcodec_find_encoder_by_name(known.name) != nil { return known }
        let wanted = known?.codec ?? name
        let codec =
            avcodec_find_encoder_by_name(wanted)
            ?? avcodec_descriptor_get_by_name(wanted).flatMap { avcodec_find_encoder($0.pointee.id) }
        guard let codec, codec.pointee.type == AVMEDIA_TYPE_VIDEO else {
            throw ReelFailure(
                .encoderUnknown(option: .videoCodec, name: name, known: all.filter(\.isListed).map(\.name)))
        }
        return named(String(cString: codec.pointee.name), codec: String(cString: avcodec_get_name(codec.pointee.id)))
    }

    /// The profile of this name; nil if the encoder has none so called.
    func profile(_ name: String) -> Profile? {
        profiles.first { $0.name == name.lowercased() }
    }

    /// The options for pictures of this format and size.
    ///
    /// - Parameter profile: the profile that is asked for; nil for the encoder's choice.
    func options(for format: AVPixelFormat, width: Int, height: Int, profile: String?) -> [MediaOption] {
        if let profile { return [MediaOption(name: "profile", value: profile)] }
        switch name {
        case "ffv1": return FFV1Layout(width: width, height: height, format: format).options
        case "prores_ks":
            let isFull = av_pix_fmt_desc_get(format).map { $0.pointee.log2_chroma_w == 0 } ?? false
            return [MediaOption(name: "profile", value: isFull ? "4" : "3")]
        case "libvpx", "libvpx-vp9":
            guard PixelFormatChoice.hasAlpha(format) else { return [] }
            // Without key frames at scene changes, which colours and transparency have at different places. Decoders begin
            // where the colours have one, and fail if the transparency has none there.
            let keyFrames = MediaOption(name: "keyint_min", value: "\(keyFrameInterval)")
            // VP8's hidden frames would have no transparency: libavcodec refuses them.
            return [keyFrames] + (name == "libvpx" ? [MediaOption(name: "auto-alt-ref", value: "0")] : [])
        default: return []
        }
    }

    /// Whether the encoder has a private option with this name.
    func has(option: String) -> Bool { bounds(ofOption: option) != nil }

    /// The values of a private option that is a number; of another option they mean nothing. Nil if there is no such option.
    func bounds(ofOption option: String) -> ClosedRange<Double>? {
        guard let codec = avcodec_find_encoder_by_name(name), codec.pointee.priv_class != nil else { return nil }
        var description: UnsafePointer<AVClass>? = codec.pointee.priv_class
        return withUnsafeMutablePointer(to: &description) { pointer in
            guard let found = av_opt_find(pointer, option, nil, 0, AV_OPT_SEARCH_FAKE_OBJ) else { return nil }
            return min(found.pointee.min, found.pointee.max)...max(found.pointee.min, found.pointee.max)
        }
    }
}
