internal import CFFmpeg
internal import ReelCore

/// How pictures are encoded, but for the options of the encoder.
struct EncodingForm {
    let encoder: EncoderTraits
    /// The profile that is asked for; nil if the user asks for none.
    let profile: EncoderTraits.Profile?
    let pixels: AVPixelFormat
    let format: OutputFormat
}

/// Pictures that are decoded and encoded: format, options, and the open encoder.
extension TargetChoice {
    func form() throws(ReelFailure) -> Chosen<EncodingForm> {
        let chosen = try encoder()
        let encoder = chosen.value
        try refuseUnlessHeld(codec: encoder.codec, option: .videoCodec)
        let source = av_get_pix_fmt(stream.pixelFormat)
        guard source != AV_PIX_FMT_NONE else { throw ReelFailure(.nothingDecodes(path: nil)) }
        let profile = try profile(of: encoder)
        let pixels = try pixels(source, encoder, profile)
        var format = format(
            pixels.format.name, clock: try spec.clock(of: indexes, encoder: encoder),
            size: spec.size ?? sizeWithin(spec.mostSide),
            isUpright: turnsUpright)
        if hasStandardRange(encoder), pixels.format.descriptor?.comp.0.depth == 8 { format.toneMapping = .hable }
        try refuseInterlaced(scaledTo: format)
        var diagnostics = stream.losses + chosen.diagnostics + [pixels.change].compactMap(\.self)
        diagnostics += conversions(to: format)
        if encoder.isLimitedRange, stream.hasFullRange { diagnostics.append(.rangeLimited(encoder: encoder.name)) }
        diagnostics += lostSignalling(in: format, encoder: encoder.name)
        return Chosen(
            value: EncodingForm(encoder: encoder, profile: profile, pixels: pixels.format, format: format),
            diagnostics: diagnostics)
    }

    /// The size of pictures that exceed a side, or whose sides are odd, which 4:2:0 has not; nil if they stay as they are.
    private func sizeWithin(_ most: Int?) -> PictureSize? {
        guard let most, max(stream.width, stream.height) > most || (stream.width | stream.height) & 1 == 1 else {
            return nil
        }
        let size = stream.shownSize.limited(to: most)
        return PictureSize(width: max(size.width & ~1, 2), height: max(size.height & ~1, 2))
    }

    private func encoder() throws(ReelFailure) -> Chosen<EncoderTraits> {
        let container = spec.container
        if spec.lossless {
            guard container.traits.isLossless else { throw ReelFailure(.losslessNotHeld(container: container)) }
            if let codec = spec.videoCodec, codec != "ffv1" {
                throw ReelFailure(.losslessCodecFixed(option: .videoCodec, codec: codec, only: "ffv1"))
            }
            let isHeld = PixelFormatChoice.isHeld(av_get_pix_fmt(stream.pixelFormat), by: "ffv1", in: container)
            return Chosen(value: try .chosen(by: isHeld ? "ffv1" : "rawvideo"), diagnostics: [])
        }
        if let codec = spec.videoCodec {
            let encoder = try EncoderTraits.chosen(by: codec)
            return Chosen(value: encoder, diagnostics: encoder.isTried ? [] : [.encoderUntried(encoder: encoder.name)])
        }
        let own = stream.codec
        let usual = container.traits.videoCodecs
        let preferred = usual.isEmpty ? EncoderTraits.all.filter(\.keepsCodec).map(\.codec) : usual
        let otherwise = usual.first ?? "h264"
        let isKept = preferred.contains(own) && container.shows(codec: own)
        var encoder = try EncoderTraits.chosen(by: isKept ? own : otherwise)
        if !holds(encoder.codec) { encoder = try .chosen(by: otherwise) }
        let isKeptElsewhere = EncoderTraits.all.contains { $0.codec == own && $0.keepsCodec }
        let isReported = encoder.codec != own && (isKeptElsewhere || holds(own) && !container.shows(codec: own))
        return Chosen(
            value: encoder,
            diagnostics: isReported ? [.videoCodecChanged(container: container, from: own, to: encoder.codec)] : [])
    }

    private func profile(of encoder: EncoderTraits) throws(ReelFailure) -> EncoderTraits.Profile? {
        guard let name = spec.profile else { return nil }
        guard !encoder.profiles.isEmpty else { throw unsupported(.profile, by: encoder.name) }
        guard let profile = encoder.profiles.first(where: { $0.name == name.lowercased() }) else {
            throw unsupported(.profile, name, by: encoder.name, encoder.profiles.map(\.name))
        }
        return profile
    }

    private func pixels(
        _ source: AVPixelFormat, _ encoder: EncoderTraits, _ profile: EncoderTraits.Profile?
    ) throws(ReelFailure) -> PixelFormatChoice {
        if let asked = spec.pixelFormat {
            return try PixelFormatChoice(
                asked: asked, encoder: encoder.name, container: spec.container, profile: profile)
        }
        if profile == nil, hasStandardRange(encoder) { return .ofStandardRange }
        if profile == nil, isForPlayers(source, encoder) { return PixelFormatChoice(forPlayersOf: source) }
        return try PixelFormatChoice(
            source: source, encoder: encoder.name, container: spec.container, profile: profile, lossless: spec.lossless)
    }

    /// Whether a source of high dynamic range becomes H.264 of the standard range, unless an option asks for 10 bits: who
    /// names this codec wants an output that plays everywhere.
    private func hasStandardRange(_ encoder: EncoderTraits) -> Bool {
        spec.videoCodec != nil && encoder.codec == "h264" && stream.colour.dynamicRange != .standard && canMapTones
    }

    /// Whether to encode the format in which players show H.264 in MP4 and QuickTime files: for pictures in RGB, such
    /// as the ones of a GIF or a recorded screen, and for a codec that players do not show there. Few players show
    /// H.264 with all chroma samples. Not for sizes that the format does not have.
    private func isForPlayers(_ source: AVPixelFormat, _ encoder: EncoderTraits) -> Bool {
        guard spec.container.isQuickTime, encoder.name == "libx264" else { return false }
        let hasChromaInEachLine = source.chromaShifts.down == 0 && source.descriptor?.nb_components ?? 0 > 2
        let isOld = !spec.container.shows(codec: stream.codec) && !stream.fieldOrder.isInterlaced && hasChromaInEachLine
        let sides = spec.size.map { [$0.width, $0.height] } ?? [stream.width, stream.height]
        return (isOld || source.isRGB) && sides.allSatisfy { $0.isMultiple(of: 2) }
    }

    func options(of form: EncodingForm) throws(ReelFailure) -> [MediaOption] {
        let (encoder, format) = (form.encoder, form.format)
        var options = encoder.options(threads(of: encoder))
        if let preset = spec.preset {
            let name = encoder.preset?.name ?? "preset"
            try refuseUnlessPreset(preset, name, of: encoder)
            options.append(MediaOption(name: name, value: preset))
        } else if let preset = encoder.preset {
            options.append(preset)
        }
        if let crf = spec.crf { try refuseUnlessQuality(crf, of: encoder) }
        if spec.mostBytes != nil, !encoder.keepsRate || encoder.isLossless {
            throw unsupported(.maxSize, by: encoder.name)
        }
        if spec.bitrate == nil, spec.mostBytes == nil, let crf = spec.crf ?? encoder.crf {
            options.append(MediaOption(name: "crf", value: "\(crf)"))
        }
        options += encoder.options(
            for: form.pixels, width: format.width, height: format.height, profile: form.profile?.name)
        if let syntax = encoder.lightSyntax {
            let shown = stream.mapped(to: format)
            SignallingOptions(stream: shown, fields: format.fieldOrder).add(to: &options, as: syntax)
        }
        return options
    }

    private func refuseUnlessPreset(_ preset: String, _ option: String, of encoder: EncoderTraits) throws(ReelFailure) {
        guard let bounds = encoder.bounds(ofOption: option) else { throw unsupported(.preset, by: encoder.name) }
        var known = encoder.presets
        if known.isEmpty, encoder.preset != nil {
            if let number = Int(preset), bounds.contains(Double(number)) { return }
            known = [bounds.words]
        }
        guard !known.isEmpty, !known.contains(preset) else { return }
        throw unsupported(.preset, preset, by: encoder.name, known)
    }

    private func refuseUnlessQuality(_ crf: Double, of encoder: EncoderTraits) throws(ReelFailure) {
        guard let bounds = encoder.bounds(ofOption: "crf") else { throw unsupported(.crf, by: encoder.name) }
        let allowed = 0...min(encoder.mostCRF ?? .infinity, bounds.upperBound)
        guard !allowed.contains(crf) else { return }
        throw unsupported(.crf, crf.words, by: encoder.name, [allowed.words])
    }

    /// The settings with the identity of the encoder, which is opened for that. Throws if it refuses them, or if the
    /// container does not give its pictures back.
    func opened(
        _ encoder: EncoderTraits, _ format: OutputFormat, _ options: [MediaOption]
    ) throws(ReelFailure) -> VideoEncoding {
        let encoding = VideoEncoding(
            encoder: encoder.name, format: format, options: options,
            // Planning knows what the share is.
            bitrate: spec.mostBytes == nil || encoder.isLossless ? spec.bitrate : .share(Rational(1)),
            threads: threads(of: encoder), keyFrameInterval: encoder.keyFrameInterval,
            identity: EncoderIdentity(build: EncoderIdentity.build(of: encoder.name), extradataHash: ""))
        // Few containers have a name for every format of raw pictures, and libavformat writes some formats under
        // another's name.
        if encoder.name == "rawvideo", try !encoding.isGivenBackRaw(in: spec.container, stream: stream) {
            throw ReelFailure(
                .rawNotGivenBack(pixelFormat: format.pixelFormat, container: spec.container, lossless: spec.lossless))
        }
        switch encoding.bitrate {
        case .source, .share: return try followingSource(encoding)
        case .constant(let bits): return try identified(encoding, bits)
        case nil: return try coarsening(identified(encoding, nil))
        }
    }

    /// The encoding with a quality that may become coarser in some chunks, unless the user or the encoder sets it, or the
    /// encoder writes it into its parameters.
    private func coarsening(_ encoding: VideoEncoding) throws(ReelFailure) -> VideoEncoding {
        guard spec.crf == nil, encoding.quality != nil, let coarsening = encoding.traits.coarsening else {
            return encoding
        }
        var coarse = encoding
        coarse.coarsest = coarsening.most
        if let option = coarsening.option { coarse.options.add(option.name, option.value) }
        let fine = try identified(coarse, nil)
        coarse.quality = coarsening.most
        return try identified(coarse, nil).identity == fine.identity ? fine : encoding
    }

    /// The encoding with the hash of the parameters that the encoder makes at this rate in bits per second; nil for
    /// constant quality.
    private func identified(_ encoding: VideoEncoding, _ bitrate: Int64?) throws(ReelFailure) -> VideoEncoding {
        var encoding = encoding
        encoding.identity.extradataHash = try Encoder(encoding, stream: stream, bitrate: bitrate).extradataHash
        return encoding
    }

    /// Fixes all settings that would differ from chunk to chunk: segments of different rates join only if the encoder's
    /// parameters do not depend on the rate. Throws `.usage` if the encoder still writes its rate into them.
    private func followingSource(_ encoding: VideoEncoding) throws(ReelFailure) -> VideoEncoding {
        var encoding = encoding
        let track = index.video
        let average = track.bitrate(of: track.frames.indices) ?? 1_000_000
        // Encoders choose their level by the rate; take the level for four times the average rate.
        let level = try Encoder(encoding, stream: stream, bitrate: 4 * average).level
        switch (encoding.traits.levelOption, level) {
        case (.x264, let level?): encoding.options.add("level", "\(level)")
        case (.x265, let level?): encoding.options.add("x265-params", "info=0:high-tier=0:level-idc=\(level)")
        default: break
        }
        let common = try identified(encoding, average)
        for bitrate in [average / 8 + 1, average * 8] where try identified(encoding, bitrate) != common {
            throw ReelFailure(.sourceRateUnsupported(encoder: encoding.encoder))
        }
        return common
    }
}

extension Encoder {
    /// Ten times the level in the sequence parameter set of H.264 or HEVC (ITU-T H.264 7.3.2.1.1, H.265 7.3.3).
    fileprivate var level: Int? {
        for unit in NALFraming.annexB.units(in: extradata) {
            var bits = BitReader(unit)
            let bytes = (0..<15).compactMap { _ in bits.bits(8) }
            guard let header = bytes.first else { continue }
            if traits.levelOption == .x264, header & 0x1f == 7, bytes.count > 3 { return bytes[3] }
            if traits.levelOption == .x265, (header >> 1) & 0x3f == 33, bytes.count > 14 { return bytes[14] / 3 }
        }
        return nil
    }
}

extension ClosedRange<Double> {
    /// "0 to 51".
    fileprivate var words: String { "\(lowerBound.words) to \(upperBound.words)" }
}

extension Double {
    /// Without decimals if it is whole.
    fileprivate var words: String { Int(exactly: self).map { "\($0)" } ?? "\(self)" }
}
