internal import CFFmpeg
internal import ReelCore

/// What reel knows of a video encoder beyond what libavcodec tells.
struct VideoEncoderProfile {
    /// The encoder's name as FFmpeg spells it.
    let encoder: String
    /// The codec it makes.
    let codec: String
    /// About what 18 is on x264's scale; nil for encoders without constant quality of that kind.
    let crf: Double?
    /// The option that trades speed for size, and its value for about x264's medium.
    let preset: (option: String, value: String)?
    /// What reel always sets: closed groups of pictures, silence, threads as the plan fixes them.
    let options: @Sendable (_ threads: Int) -> [Tag]

    /// The first of a codec is the one that a codec's name chooses.
    static let all: [VideoEncoderProfile] = [
        VideoEncoderProfile(encoder: "libx264", codec: "h264", crf: 18, preset: ("preset", "medium")) { _ in
            [Tag(name: "a53cc", value: "0")]
        },
        VideoEncoderProfile(encoder: "libx265", codec: "hevc", crf: 20, preset: ("preset", "medium")) { threads in
            let pools = threads > 1 ? "\(threads)" : "none"
            return [Tag(name: "x265-params", value: "log-level=error:open-gop=0:pools=\(pools)")]
        },
        VideoEncoderProfile(encoder: "libsvtav1", codec: "av1", crf: 24, preset: ("preset", "8")) { threads in
            [Tag(name: "svtav1-params", value: "lp=\(threads)")]
        },
        VideoEncoderProfile(encoder: "libvpx-vp9", codec: "vp9", crf: 24, preset: ("cpu-used", "2")) { _ in
            [Tag(name: "deadline", value: "good"), Tag(name: "row-mt", value: "0")]
        },
        VideoEncoderProfile(encoder: "libvpx", codec: "vp8", crf: 10, preset: ("cpu-used", "2")) { _ in
            [Tag(name: "deadline", value: "good")]
        },
        VideoEncoderProfile(encoder: "ffv1", codec: "ffv1", crf: nil, preset: nil) { _ in [] },
        VideoEncoderProfile(encoder: "rawvideo", codec: "rawvideo", crf: nil, preset: nil) { _ in [] },
        VideoEncoderProfile(encoder: "prores_ks", codec: "prores", crf: nil, preset: nil) { _ in
            [Tag(name: "vendor", value: "apl0")]
        },
        VideoEncoderProfile(encoder: "mjpeg", codec: "mjpeg", crf: nil, preset: nil) { _ in [] },
        VideoEncoderProfile(encoder: "mpeg2video", codec: "mpeg2video", crf: nil, preset: nil) { _ in
            // No key frames where scenes change: libavcodec closes no groups of pictures beside them.
            [Tag(name: "sc_threshold", value: "1000000000")]
        },
    ]

    /// Codecs of today: a source of one of them is encoded in it again.
    static let current: Set<String> = ["h264", "hevc", "av1", "vp9", "ffv1", "prores", "mpeg2video"]

    /// The profile of an encoder's or a codec's name; one without special knowledge for any other encoder of libavcodec.
    static func named(_ name: String) throws(ReelFailure) -> VideoEncoderProfile {
        let wanted = ["h265": "hevc", "x264": "libx264", "x265": "libx265"][name] ?? name
        let known = all.first { $0.encoder == wanted } ?? all.first { $0.codec == wanted }
        if let known, avcodec_find_encoder_by_name(known.encoder) != nil { return known }
        let codec =
            avcodec_find_encoder_by_name(wanted)
            ?? avcodec_descriptor_get_by_name(wanted).flatMap {
                avcodec_find_encoder($0.pointee.id)
            }
        guard let codec, codec.pointee.type == AVMEDIA_TYPE_VIDEO else {
            throw ReelFailure(.encoderUnknown(option: .videoCodec, name: name, known: all.map(\.encoder)))
        }
        return VideoEncoderProfile(
            encoder: String(cString: codec.pointee.name), codec: String(cString: avcodec_get_name(codec.pointee.id)),
            crf: nil, preset: nil, options: { _ in [] })
    }

    /// The most frames from one key frame to the next. Decoders' transforms of MPEG-2 differ, so that errors add up
    /// until the next one (ISO 13818-2 annex A): broadcasters' half a second.
    var keyFrameInterval: Int {
        switch codec {
        case "ffv1": 1
        case "mpeg2video": 15
        default: 250
        }
    }

    /// Whether the encoder has a private option of that name.
    func has(option: String) -> Bool {
        guard let codec = avcodec_find_encoder_by_name(encoder), codec.pointee.priv_class != nil else { return false }
        var description: UnsafePointer<AVClass>? = codec.pointee.priv_class
        return withUnsafeMutablePointer(to: &description) { pointer in
            av_opt_find(pointer, option, nil, 0, AV_OPT_SEARCH_FAKE_OBJ) != nil
        }
    }

    /// Encoders that this process has, in the form that plans name them.
    static var builds: [String] {
        let audio = ["aac", "libopus", "flac", "libvorbis"]
        let present = (all.map(\.encoder) + audio).filter { avcodec_find_encoder_by_name($0) != nil }
        return (present + [VideoTarget.copy]).map(build(of:))
    }

    /// The encoder and the library it lives in: what a plan and a worker compare.
    static func build(of encoder: String) -> String {
        let version = avcodec_version()
        return "\(encoder) Lavc\(version >> 16).\(version >> 8 & 255).\(version & 255)"
    }
}
