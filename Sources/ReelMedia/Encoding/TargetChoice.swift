internal import CFFmpeg
package import ReelCore

/// Chooses how the output is encoded, by the spec, the sources and the container.
package struct TargetChoice {
    /// Those of the job's sources, in their order.
    let indexes: [SourceIndex]
    let spec: JobSpec
    let threads: Int
    /// Changes and omissions by the choices so far.
    package internal(set) var diagnostics: [Diagnostic] = []

    /// `threads` is the number of threads of each codec if the spec does not set it.
    package init(indexes: [SourceIndex], spec: JobSpec, threads: Int = 1) {
        self.indexes = indexes
        self.spec = spec
        self.threads = spec.threads ?? threads
    }

    /// The index of the source whose format the output has.
    var index: SourceIndex { indexes[spec.mainSource] }

    /// The indexes of the other sources that are shown.
    var others: [SourceIndex] { spec.shownSources.filter { $0 != spec.mainSource }.map { indexes[$0] } }

    /// The video's encoder with its settings, opened once to get its identity. Throws `.usage` for a codec or an option
    /// that does not exist, and `.input` for a codec that the container cannot hold.
    package mutating func video() throws(ReelFailure) -> VideoTarget {
        let stream = index.video.stream
        try refuseUnlessTold()
        try refuseMissingTracks()
        try refuseMixtures()
        if let loops = spec.container.traits.loops { return .encode(try pictures(loops)) }
        try refuseLoopOptions()
        if let copy = try copy() {
            diagnostics +=
                LostSignalling(
                    stream: stream, format: copy.format, encoder: VideoTarget.copy, container: spec.container
                ).diagnostics
            return .passthrough(copy)
        }
        diagnostics += stream.losses
        let encoder = try encoderTraits()
        try refuseUnlessHeld(codec: encoder.codec, option: .videoCodec)
        let source = av_get_pix_fmt(stream.pixelFormat)
        guard source != AV_PIX_FMT_NONE else {
            throw ReelFailure(.nothingDecodes(path: nil))
        }
        let profile = try profile(of: encoder)
        let pixels =
            if let asked = spec.pixelFormat {
                try PixelFormatChoice(
                    asked: asked, encoder: encoder.name, container: spec.container, profile: profile)
            } else if profile == nil, let shown = formatForPlayers(source, encoder) {
                shown
            } else {
                try PixelFormatChoice(
                    source: source, encoder: encoder.name, container: spec.container, profile: profile,
                    lossless: spec.lossless)
            }
        if let change = pixels.change { diagnostics.append(change) }
        let format = OutputFormat(
            of: stream, spec.directions, timeBase: try spec.clock(of: indexes, encoder: encoder),
            pixelFormat: known(av_get_pix_fmt_name(pixels.format)) ?? "", beside: others.map(\.video.stream),
            size: spec.size, isUpright: turnsUpright)
        try refuseInterlaced(scaledTo: format)
        checkConversions(to: format)
        if encoder.isLimitedRange, stream.hasFullRange { diagnostics.append(.rangeLimited(encoder: encoder.name)) }
        diagnostics +=
            LostSignalling(
                stream: stream, format: format, encoder: encoder.name, container: spec.container
            ).diagnostics
        var target = VideoEncoding(
            encoder: encoder.name, format: format,
            options: try options(of: encoder, pixels.format, profile, format),
            bitrate: spec.bitrate, threads: threads(of: encoder),
            keyFrameInterval: encoder.keyFrameInterval,
            identity: EncoderIdentity(build: EncoderBuilds.build(of: encoder.name), extradataHash: ""))
        if encoder.name == "rawvideo" { try refuseUnlessGivenBack(target) }
        switch target.bitrate {
        case .source: try followSource(&target)
        case .constant(let bits): target.identity.extradataHash = try extradataHash(target, bits)
        case nil: target.identity.extradataHash = try extradataHash(target, nil)
        }
        return .encode(target)
    }

    /// Whether the pictures are turned because the container cannot tell players to do it. Not if that would mix fields, or
    /// change the pixels of a lossless output.
    var turnsUpright: Bool {
        let stream = index.video.stream
        let turning = Turning(from: stream.displayMatrix, to: nil)
        guard !turning.isNone, !spec.container.traits.holdsRotation, !stream.fieldOrder.isInterlaced else {
            return false
        }
        return !spec.lossless || !turning.isSideways
            || PixelFormatChoice.turnsExactly(av_get_pix_fmt(stream.pixelFormat))
    }

    /// Few containers have a name for every format of raw pictures, and libavformat writes some formats under another's
    /// name.
    private func refuseUnlessGivenBack(_ raw: VideoEncoding) throws(ReelFailure) {
        guard try !raw.isGivenBackRaw(in: spec.container, stream: index.video.stream) else { return }
        throw ReelFailure(
            .rawNotGivenBack(pixelFormat: raw.format.pixelFormat, container: spec.container, lossless: spec.lossless))
    }

    /// libavformat writes times to Matroska in milliseconds: frames that are closer together would be shown at the same
    /// time.
    private func refuseUnlessTold() throws(ReelFailure) {
        guard let clock = spec.container.traits.clock else { return }
        let clips = spec.edit?.clips ?? [EditClip(play: .reverse)]
        let speeds = Dictionary(grouping: clips.filter { $0.still == nil }) { $0.source ?? 0 }
            .mapValues { $0.map(\.speed).max() ?? Rational(1) }
        for (source, speed) in speeds.sorted(by: { $0.key < $1.key }) {
            let index = indexes[source]
            let timeBase = index.video.stream.timeBase
            let least = timeBase.ticks(in: clock.secondsPerTick * speed, rounding: .up)
            guard let close = index.video.frames.dropFirst().first(where: { $0.interval.duration.count < least }) else {
                continue
            }
            let time = timeBase.seconds(close.interval.start) - index.startTime
            throw ReelFailure(.framesTooClose(time: time, container: spec.container))
        }
    }

    private mutating func encoderTraits() throws(ReelFailure) -> EncoderTraits {
        if spec.lossless {
            guard spec.container.traits.isLossless else {
                throw ReelFailure(.losslessNotHeld(container: spec.container))
            }
            if let codec = spec.videoCodec, codec != "ffv1" {
                throw ReelFailure(.losslessCodecFixed(option: .videoCodec, codec: codec, only: "ffv1"))
            }
            let isHeld = PixelFormatChoice.isHeld(index.video.stream.pixelFormat, by: "ffv1", in: spec.container)
            return try .chosen(by: isHeld ? "ffv1" : "rawvideo")
        }
        if let codec = spec.videoCodec {
            let encoder = try EncoderTraits.chosen(by: codec)
            if !encoder.isTried { diagnostics.append(.encoderUntried(encoder: encoder.name)) }
            return encoder
        }
        let own = index.video.stream.codec
        let usual = spec.container.traits.videoCodecs
        let preferred = usual.isEmpty ? EncoderTraits.all.filter(\.keepsCodec).map(\.codec) : usual
        let otherwise = usual.first ?? "h264"
        let isKept = preferred.contains(own) && spec.container.shows(codec: own)
        var encoder = try EncoderTraits.chosen(by: isKept ? own : otherwise)
        if !holds(encoder.codec) { encoder = try .chosen(by: otherwise) }
        let isKeptElsewhere = EncoderTraits.all.contains { $0.codec == own && $0.keepsCodec }
        if encoder.codec != own, isKeptElsewhere || holds(own) && !spec.container.shows(codec: own) {
            diagnostics.append(.videoCodecChanged(container: spec.container, from: own, to: encoder.codec))
        }
        return encoder
    }

    /// The profile that is asked for; nil if none is. Throws `.usage` if the encoder does not have it.
    private func profile(of encoder: EncoderTraits) throws(ReelFailure) -> EncoderTraits.Profile? {
        guard let name = spec.profile else { return nil }
        guard !encoder.profiles.isEmpty else {
            throw ReelFailure(.optionUnsupported(option: .profile, encoder: encoder.name))
        }
        guard let profile = encoder.profile(name) else {
            throw ReelFailure(
                .valueUnsupported(
                    option: .profile, value: name, encoder: encoder.name, known: encoder.profiles.map(\.name)))
        }
        return profile
    }

    /// The format in which players show H.264 in MP4 and QuickTime files, for pictures in RGB, such as those of a GIF or a
    /// recorded screen, and for those of a codec that players do not show there: few players show H.264 with all chroma samples.
    /// Nil for other pictures and files, and for sizes that the format does not have.
    private func formatForPlayers(_ source: AVPixelFormat, _ encoder: EncoderTraits) -> PixelFormatChoice? {
        let stream = index.video.stream
        let isOld =
            !spec.container.shows(codec: stream.codec) && !stream.fieldOrder.isInterlaced
            && PixelFormatChoice.hasChromaInEachLine(source)
        guard spec.container.isQuickTime, encoder.name == "libx264", isOld || PixelFormatChoice.isRGB(source) else {
            return nil
        }
        let sides = spec.size.map { [$0.width, $0.height] } ?? [stream.width, stream.height]
        return sides.allSatisfy { $0.isMultiple(of: 2) } ? PixelFormatChoice(forPlayersOf: source) : nil
    }

    func threads(of encoder: EncoderTraits) -> Int { min(threads, encoder.mostThreads) }

    private func options(
        of encoder: EncoderTraits, _ pixels: AVPixelFormat, _ profile: EncoderTraits.Profile?, _ format: OutputFormat
    ) throws(ReelFailure) -> [MediaOption] {
        var options = encoder.options(threads(of: encoder))
        if let preset = spec.preset {
            let name = encoder.preset?.option ?? "preset"
            guard encoder.has(option: name) else {
                throw ReelFailure(.optionUnsupported(option: .preset, encoder: encoder.name))
            }
            try refuseUnlessPreset(preset, named: name, of: encoder)
            options.append(MediaOption(name: name, value: preset))
        } else if let preset = encoder.preset {
            options.append(MediaOption(name: preset.option, value: preset.value))
        }
        if let crf = spec.crf { try refuseUnlessQuality(crf, of: encoder) }
        if spec.bitrate == nil, let crf = spec.crf ?? encoder.crf {
            options.append(MediaOption(name: "crf", value: "\(crf)"))
        }
        options += encoder.options(for: pixels, width: format.width, height: format.height, profile: profile?.name)
        if let syntax = encoder.lightSyntax {
            SignallingOptions(index.video.stream, fields: format.fieldOrder).add(to: &options, as: syntax)
        }
        return options
    }

    private func refuseUnlessPreset(
        _ preset: String, named option: String, of encoder: EncoderTraits
    ) throws(ReelFailure) {
        var known = encoder.presets
        if known.isEmpty, encoder.preset != nil, let bounds = encoder.bounds(ofOption: option) {
            if let number = Int(preset), bounds.contains(Double(number)) { return }
            known = [bounds.words]
        }
        guard !known.isEmpty, !known.contains(preset) else { return }
        throw ReelFailure(.valueUnsupported(option: .preset, value: preset, encoder: encoder.name, known: known))
    }

    private func refuseUnlessQuality(_ crf: Double, of encoder: EncoderTraits) throws(ReelFailure) {
        guard let bounds = encoder.bounds(ofOption: "crf") else {
            throw ReelFailure(.optionUnsupported(option: .crf, encoder: encoder.name))
        }
        let allowed = 0...min(encoder.mostCRF ?? .infinity, bounds.upperBound)
        guard !allowed.contains(crf) else { return }
        throw ReelFailure(
            .valueUnsupported(option: .crf, value: crf.words, encoder: encoder.name, known: [allowed.words]))
    }

    /// Whether libavformat can write a codec into the job's container.
    package func holds(_ codec: String) -> Bool {
        guard let muxer = av_guess_format(spec.container.traits.muxer, nil, nil),
            let descriptor = avcodec_descriptor_get_by_name(codec)
        else { return false }
        if let codecs = spec.container.traits.codecs { return codecs.contains(codec) }
        if spec.container.traits.codecsBeside.contains(codec) { return true }
        if spec.container.traits.codecsRefused.contains(codec) { return false }
        return avformat_query_codec(muxer, descriptor.pointee.id, FF_COMPLIANCE_NORMAL) == 1
    }

    func refuseUnlessHeld(codec: String, option: JobSpec.Option) throws(ReelFailure) {
        guard !holds(codec) else { return }
        throw ReelFailure(.codecNotHeld(option: option, codec: codec, container: spec.container))
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
