internal import CFFmpeg
public import ReelCore

/// Chooses how the output is encoded, by what was asked for, what the source is, and what the container holds.
public struct TargetChoice {
    let index: SourceIndex
    let spec: JobSpec
    let threads: Int
    public internal(set) var diagnostics: [Diagnostic] = []

    /// `threads` are those of each codec where the spec does not say how many.
    public init(index: SourceIndex, spec: JobSpec, threads: Int = 1) {
        self.index = index
        self.spec = spec
        self.threads = spec.threads ?? threads
    }

    /// The video's encoder and its settings, opened once to learn who it is. Throws `.usage` for a codec or an option
    /// that does not exist, `.input` for a codec that the container cannot hold.
    public mutating func video() throws(ReelFailure) -> VideoTarget {
        let stream = index.video.stream
        try refuseUnlessTold()
        if let copy = try copy() {
            diagnostics +=
                PictureMeaning(stream: stream, encoder: copy.encoder, container: spec.container).diagnostics
            return copy
        }
        diagnostics += stream.losses
        let profile = try videoProfile()
        try refuseUnlessHeld(codec: profile.codec, option: .videoCodec)
        let source = av_get_pix_fmt(stream.pixelFormat)
        guard source != AV_PIX_FMT_NONE else {
            throw ReelFailure(.nothingDecodes(path: nil))
        }
        let pixels = try PixelFormatChoice(source: source, encoder: profile.encoder, lossless: spec.lossless)
        if let change = pixels.change { diagnostics.append(change) }
        diagnostics +=
            PictureMeaning(stream: stream, encoder: profile.encoder, container: spec.container).diagnostics
        var target = VideoTarget(
            encoder: profile.encoder, pixelFormat: known(av_get_pix_fmt_name(pixels.format)) ?? "",
            width: stream.width, height: stream.height, frameRate: stream.frameRate ?? Rational(25),
            options: try options(of: profile, pixels.format), bitrate: spec.bitrate, threads: threads(of: profile),
            keyFrameInterval: profile.keyFrameInterval,
            identity: EncoderIdentity(build: VideoEncoderProfile.build(of: profile.encoder), extradataHash: ""))
        if profile.encoder == "rawvideo" { try refuseUnlessGivenBack(target) }
        switch target.bitrate {
        case .source: try followSource(&target)
        case .constant(let bits): target.identity.extradataHash = try extradataHash(target, bits)
        case nil: target.identity.extradataHash = try extradataHash(target, nil)
        }
        return target
    }

    /// Few containers have a name for every format of raw pictures, and libavformat writes some under another's.
    private func refuseUnlessGivenBack(_ raw: VideoTarget) throws(ReelFailure) {
        guard try !raw.isGivenBackRaw(in: spec.container, stream: index.video.stream) else { return }
        throw ReelFailure(
            .rawNotGivenBack(pixelFormat: raw.pixelFormat, container: spec.container, lossless: spec.lossless))
    }

    /// Matroska counts in milliseconds (as libavformat writes it): frames that are closer would be shown at one time.
    private func refuseUnlessTold() throws(ReelFailure) {
        guard spec.container == .mkv || spec.container == .webm else { return }
        let timeBase = index.video.stream.timeBase
        let least = timeBase.ticks(in: Rational(1, 1000), rounding: .up)
        guard let close = index.video.frames.dropFirst().first(where: { $0.interval.duration.count < least }) else {
            return
        }
        let time = timeBase.seconds(close.interval.start) - index.startTime
        throw ReelFailure(.framesTooClose(time: time, container: spec.container))
    }

    private func videoProfile() throws(ReelFailure) -> VideoEncoderProfile {
        if spec.lossless {
            guard [.mkv, .mov, .nut].contains(spec.container) else {
                throw ReelFailure(.losslessNotHeld(container: spec.container))
            }
            if let codec = spec.videoCodec, codec != "ffv1" {
                throw ReelFailure(.losslessCodecFixed(option: .videoCodec, codec: codec, only: "ffv1"))
            }
            return try .named(
                PixelFormatChoice.isHeld(index.video.stream.pixelFormat, by: "ffv1") ? "ffv1" : "rawvideo")
        }
        if let codec = spec.videoCodec { return try .named(codec) }
        let own = index.video.stream.codec
        let preferred = spec.container == .webm ? ["vp9", "av1"] : Array(VideoEncoderProfile.current)
        let choice = preferred.contains(own) ? own : spec.container == .webm ? "vp9" : "h264"
        let profile = try VideoEncoderProfile.named(choice)
        return holds(profile.codec) ? profile : try .named(spec.container == .webm ? "vp9" : "h264")
    }

    private func threads(of profile: VideoEncoderProfile) -> Int {
        min(threads, VideoTarget.mostThreads(of: profile.encoder))
    }

    private func options(
        of profile: VideoEncoderProfile, _ format: AVPixelFormat
    ) throws(ReelFailure) -> [Tag] {
        var options = profile.options(threads(of: profile))
        if let preset = spec.preset {
            let name = profile.preset?.option ?? "preset"
            guard profile.has(option: name) else {
                throw ReelFailure(.optionUnsupported(option: .preset, encoder: profile.encoder))
            }
            options.append(Tag(name: name, value: preset))
        } else if let preset = profile.preset {
            options.append(Tag(name: preset.option, value: preset.value))
        }
        if spec.crf != nil, !profile.has(option: "crf") {
            throw ReelFailure(.optionUnsupported(option: .crf, encoder: profile.encoder))
        }
        if spec.bitrate == nil, let crf = spec.crf ?? profile.crf {
            options.append(Tag(name: "crf", value: "\(crf)"))
        }
        if profile.encoder == "ffv1" {
            let stream = index.video.stream
            options += FFV1Layout(width: stream.width, height: stream.height, format: format).options
        }
        if profile.encoder == "prores_ks" {
            let depth = av_pix_fmt_desc_get(format)
            let full = depth.map { $0.pointee.log2_chroma_w == 0 } ?? false
            options.append(Tag(name: "profile", value: full ? "4" : "3"))
        }
        MeaningOptions(index.video.stream).add(to: &options, encoder: profile.encoder)
        return options
    }

    /// Whether libavformat can write a codec into the job's container.
    func holds(_ codec: String) -> Bool {
        guard let muxer = av_guess_format(spec.container.muxer, nil, nil),
            let descriptor = avcodec_descriptor_get_by_name(codec)
        else { return false }
        // The transport stream's muxer cannot be asked; it takes anything, as private data that nobody can read.
        if spec.container == .ts { return Self.transportable.contains(codec) }
        // libavformat writes FFV1 to MOV under the tag that AVI has for it, which its query does not know of.
        if spec.container == .mov, descriptor.pointee.id == AV_CODEC_ID_FFV1 { return true }
        // It says that MOV holds these, and refuses to write them.
        if spec.container == .mov, ["flac", "opus", "truehd", "vp9", "av1"].contains(codec) { return false }
        // Under a private object type that few players know, without a word on where its first packet begins.
        if [.mp4, .mov].contains(spec.container), codec == "vorbis" { return false }
        return avformat_query_codec(muxer, descriptor.pointee.id, FF_COMPLIANCE_NORMAL) == 1
    }

    /// Codecs with a stream type in ISO 13818-1 or a registration that players know.
    private static let transportable: Set<String> = [
        "h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4", "aac", "mp2", "mp3", "ac3", "eac3", "dts", "opus",
    ]

    func refuseUnlessHeld(codec: String, option: JobSpec.Option) throws(ReelFailure) {
        guard !holds(codec) else { return }
        throw ReelFailure(.codecNotHeld(option: option, codec: codec, container: spec.container))
    }
}

extension Container {
    /// The muxer's name as libavformat spells it.
    var muxer: String {
        switch self {
        case .mp4: "mp4"
        case .mov: "mov"
        case .mkv: "matroska"
        case .webm: "webm"
        case .ts: "mpegts"
        case .nut: "nut"
        }
    }
}
