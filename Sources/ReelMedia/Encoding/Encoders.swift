internal import CFFmpeg
internal import ReelCore

extension EncoderTraits {
    /// The encoder with this name, or the one for this codec; with default traits for any other encoder of libavcodec.
    static func chosen(by name: String) throws(ReelFailure) -> EncoderTraits {
        let known = asked(for: name)
        if let known, avcodec_find_encoder_by_name(known.name) != nil { return known }
        guard let found = encoder(known?.codec ?? name, of: AVMEDIA_TYPE_VIDEO) else {
            throw ReelFailure(
                .encoderUnknown(option: .videoCodec, name: name, known: all.filter(\.isListed).map(\.name)))
        }
        return named(found.name, codec: found.codec)
    }

    /// The options for pictures of this format and size. `profile` is nil for the encoder's choice.
    func options(for format: AVPixelFormat, width: Int, height: Int, profile: String?) -> [MediaOption] {
        if let profile { return [MediaOption(name: "profile", value: profile)] }
        switch name {
        case "ffv1": return ffv1Options(width: width, height: height, format: format)
        case "prores_ks": return [MediaOption(name: "profile", value: format.chromaShifts.across == 0 ? "4" : "3")]
        case "libvpx", "libvpx-vp9":
            guard format.hasAlpha else { return [] }
            // Without key frames at scene changes, which colours and transparency have at different places. Decoders
            // begin where the colours have one, and fail if the transparency has none there.
            let keyFrames = MediaOption(name: "keyint_min", value: "\(keyFrameInterval)")
            // VP8's hidden frames would have no transparency: libavcodec refuses them.
            return [keyFrames] + (name == "libvpx" ? [MediaOption(name: "auto-alt-ref", value: "0")] : [])
        default: return []
        }
    }

    /// The values of a private option that is a number; of another option they mean nothing. Nil if there is no such
    /// option.
    func bounds(ofOption option: String) -> ClosedRange<Double>? {
        guard let codec = avcodec_find_encoder_by_name(name), codec.pointee.priv_class != nil else { return nil }
        var description: UnsafePointer<AVClass>? = codec.pointee.priv_class
        return withUnsafeMutablePointer(to: &description) { pointer in
            guard let found = av_opt_find(pointer, option, nil, 0, AV_OPT_SEARCH_FAKE_OBJ) else { return nil }
            return min(found.pointee.min, found.pointee.max)...max(found.pointee.min, found.pointee.max)
        }
    }
}

/// libavcodec's encoder of this name, or for the codec of this name; nil if it has none.
private func encoder(_ name: String, of type: AVMediaType) -> (name: String, codec: String)? {
    let codec =
        avcodec_find_encoder_by_name(name)
        ?? avcodec_descriptor_get_by_name(name).flatMap { avcodec_find_encoder($0.pointee.id) }
    guard let codec, codec.pointee.type == type else { return nil }
    return (String(cString: codec.pointee.name), codec.pointee.id.name)
}

/// The version of FFV1 for pictures of a size and format, and the number of slices. libavcodec 5.1 decodes slices of
/// few pixels, and some that divide chroma samples, wrongly and without an error.
private func ffv1Options(width: Int, height: Int, format: AVPixelFormat) -> [MediaOption] {
    func samples(_ length: Int, _ shift: Int) -> Int { (length + (1 << shift) - 1) >> shift }
    /// Whether the chroma samples of the last slice extend to the picture's edge.
    func divides(_ length: Int, by count: Int, _ shift: Int) -> Bool {
        let start = length * (count - 1) / count
        return length >= 16 * count && (start >> shift) + samples(length - start, shift) >= samples(length, shift)
    }
    // The number of columns of slices, and of rows.
    let columns = (2...8).first { count in
        guard let descriptor = format.descriptor else { return false }
        let shifts = format.chromaShifts
        let largest = Int64((width + count - 1) / count) * Int64((height + count - 1) / count)
        // libavcodec's own limit (ffv1enc.c).
        return largest * (Int64(descriptor.comp.0.depth) + 1) * Int64(descriptor.nb_components) <= 8 << 24
            && divides(width, by: count, shifts.across) && divides(height, by: count, shifts.down)
    }
    // Version 1 has no slices and always decodes correctly.
    guard let columns else { return [MediaOption(name: "level", value: "1")] }
    return [
        MediaOption(name: "level", value: "3"), MediaOption(name: "slices", value: "\(columns * columns)"),
        MediaOption(name: "slicecrc", value: "1"),
    ]
}

extension VideoEncoding {
    /// Whether a container gives raw pictures of this encoding back unchanged, tested by writing a picture of noise.
    func isGivenBackRaw(in container: Container, stream: VideoStream) throws(ReelFailure) -> Bool {
        let encoder = try Encoder(self, stream: stream, bitrate: nil)
        let frame = try Frame()
        try frame.allocate(format.width, format.height, av_get_pix_fmt(format.pixelFormat))
        frame.pts = Timestamp(0)
        frame.fillWithNoise()
        try encoder.send(frame)
        let packet = try Packet()
        guard try encoder.receive(into: packet) else { return false }
        return try container.givesBack(packet, showing: frame) { (parameters) throws(ReelFailure) in
            try encoder.describe(into: parameters)
            parameters.pointee.codec_tag = container.fourCC(of: parameters.pointee)
        }
    }
}

extension Frame {
    /// Fills the picture's buffers with a fixed sequence without a pattern.
    fileprivate func fillWithNoise() {
        var state: UInt32 = 1
        withUnsafeBytes(of: &native.pointee.buf) { raw in
            for case let buffer? in raw.bindMemory(to: UnsafeMutablePointer<AVBufferRef>?.self) {
                for place in 0..<Int(buffer.pointee.size) {
                    state = state &* 1_664_525 &+ 1_013_904_223
                    buffer.pointee.data[place] = UInt8(truncatingIfNeeded: state >> 24)
                }
            }
        }
    }
}

extension EncoderIdentity {
    /// The build of an encoder: its name and its library, which a plan and a worker compare.
    static func build(of encoder: String) -> String {
        let version = avcodec_version()
        return "\(encoder) Lavc\(version >> 16).\(version >> 8 & 255).\(version & 255)"
    }
}

extension AudioEncoderTraits {
    /// The encoder with this name, or the one for this codec; "pcm" means the PCM that holds the decoder's samples.
    static func chosen(by name: String, for track: AudioTrack) throws(ReelFailure) -> AudioEncoderTraits {
        if name == "pcm" { return pcm(holding: track) }
        guard let traits = available(name) else {
            let known = all.map(\.codec).filter { !isPCM($0) } + ["pcm"]
            throw ReelFailure(.encoderUnknown(option: .audioCodec, name: name, known: known))
        }
        return traits
    }

    /// Encoders for a track, best first: that of its own codec if reel keeps it, then those for any source, and the PCM
    /// that holds its samples.
    static func candidates(for track: AudioTrack) -> [AudioEncoderTraits] {
        let own = making(track.codec).keepsCodec ? available(track.codec) : nil
        let pcm = pcm(holding: track)
        return [own, isPCM(track.codec) ? pcm : nil].compactMap { $0 }
            + all.filter(\.isForAnySource).compactMap { available($0.name) } + [pcm]
            // For containers that hold no other.
            + ["pcm_s24le", "pcm_s16le", "mp3"].compactMap(available)
    }

    private static func available(_ name: String) -> AudioEncoderTraits? {
        let wanted = (all.first { $0.name == name } ?? making(name)).name
        return encoder(wanted, of: AVMEDIA_TYPE_AUDIO).map { named($0.name, codec: $0.codec) }
    }

    func keepsRate(of track: AudioTrack) -> Bool { nearestRate(to: track.sampleRate) == track.sampleRate }

    /// Whether every channel keeps its place. Surround channels may be named side or back.
    func keepsChannels(of track: AudioTrack) -> Bool {
        if let mostChannels, track.channels > mostChannels { return false }
        return Self.bare(layout(for: track.channelLayout)) == Self.bare(track.channelLayout)
    }

    /// "5.1" of "5.1(side)".
    private static func bare(_ layout: String) -> String {
        ["5.0(side)": "5.0", "5.1(side)": "5.1", "quad(side)": "quad"][layout] ?? layout
    }

    /// The rate itself if the encoder takes it, else the next higher one, else the highest.
    func nearestRate(to rate: Int) -> Int {
        guard let rates else { return rate }
        return rates.contains(rate) ? rate : rates.filter { $0 > rate }.min() ?? rates.max() ?? rate
    }

    /// The rates that the encoder takes; nil for any.
    var rates: [Int]? {
        if let sampleRate { return [sampleRate] }
        let list = avcodec_find_encoder_by_name(name)?.pointee.supported_samplerates
        return elements(of: list) { $0 == 0 }?.map { Int($0) }
    }

    /// The layout itself if the encoder takes it; else the same layout with its surround channels named otherwise; else
    /// one with as many channels; else the one with the most.
    func layout(for name: String) -> String {
        guard let offered = offeredLayouts, !offered.contains(name) else { return name }
        if let same = offered.first(where: { Self.bare($0) == Self.bare(name) }) { return same }
        guard !numbersOtherChannels else { return name }
        let channels = { (layout: String) in
            (try? SoundFormat(sample: AV_SAMPLE_FMT_FLT, rate: 1, layout: layout).channels()) ?? 0
        }
        let wanted = channels(name)
        return offered.first { channels($0) == wanted } ?? offered.max { channels($0) < channels($1) } ?? name
    }

    /// The layouts that the encoder takes; nil for any.
    var offeredLayouts: [String]? {
        if let layouts { return layouts }
        let list = avcodec_find_encoder_by_name(name)?.pointee.ch_layouts
        return elements(of: list) { $0.nb_channels == 0 }?.map(layoutName)
    }

    /// The most bits of a sample that the encoder keeps, if the track has more; else nil.
    func bitsKept(of track: AudioTrack) -> Int? {
        let isWide = ["s32", "s32p", "flt", "fltp", "dbl", "dblp"].contains(track.sampleFormat)
        guard let mostBits, isWide, track.bitsPerSample ?? 32 > mostBits else { return nil }
        return mostBits
    }
}
