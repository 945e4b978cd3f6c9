internal import CFFmpeg
internal import ReelCore

extension EncoderTraits {
    /// The encoder with this name, or the one for this codec; with default traits for any other encoder of libavcodec.
    static func chosen(by name: String) throws(ReelFailure) -> EncoderTraits {
        let listed = all.filter(\.isListed)
        let known =
            listed.first { $0.name == name || $0.aliases.contains(name) } ?? listed.first { $0.codec == name }
        if let known, avcodec_find_encoder_by_name(known.name) != nil { return known }
        let wanted = known?.codec ?? name
        let codec =
            avcodec_find_encoder_by_name(wanted)
            ?? avcodec_descriptor_get_by_name(wanted).flatMap { avcodec_find_encoder($0.pointee.id) }
        guard let codec, codec.pointee.type == AVMEDIA_TYPE_VIDEO else {
            throw ReelFailure(.encoderUnknown(option: .videoCodec, name: name, known: listed.map(\.name)))
        }
        return named(String(cString: codec.pointee.name), codec: String(cString: avcodec_get_name(codec.pointee.id)))
    }

    /// The options for pictures of this format and size.
    func options(for format: AVPixelFormat, width: Int, height: Int) -> [MediaOption] {
        switch name {
        case "ffv1": return FFV1Layout(width: width, height: height, format: format).options
        case "prores_ks":
            let isFull = av_pix_fmt_desc_get(format).map { $0.pointee.log2_chroma_w == 0 } ?? false
            return [MediaOption(name: "profile", value: isFull ? "4" : "3")]
        default: return []
        }
    }

    /// Whether the encoder has a private option with this name.
    func has(option: String) -> Bool {
        guard let codec = avcodec_find_encoder_by_name(name), codec.pointee.priv_class != nil else { return false }
        var description: UnsafePointer<AVClass>? = codec.pointee.priv_class
        return withUnsafeMutablePointer(to: &description) { pointer in
            av_opt_find(pointer, option, nil, 0, AV_OPT_SEARCH_FAKE_OBJ) != nil
        }
    }
}
