/// An encoder of video, containers that hold it, and options of the encoder to draw from.
struct DifferKind {
    let encoder: String
    let containers: [String]
    var options: [[String]] = []
    var pixelFormats: [String] = []
    /// Sizes that the encoder supports.
    var sizes = ["192x108", "176x144", "98x66"]
    /// The only frame rate that the encoder supports; nil for any.
    var rate: String?
    var reorders = false
    /// Filters of coded pictures that may be drawn when they are copied into another container.
    var filters: [String] = []

    private static let general = ["mov", "mkv", "avi", "nut"]
    private static let oddToo = ["192x108", "176x144", "98x66", "97x65"]

    /// A group is drawn first, then a kind of it. Codecs that refer to other frames come most often, since they fail
    /// most.
    static let groups = [
        betweenFrames, betweenFrames, betweenFrames, windowsAndWeb, withinFrames, withinFrames, uncompressed,
    ]

    /// Standards that refer to other frames.
    private static let betweenFrames: [DifferKind] = [
        DifferKind(
            encoder: "libx264",
            containers: [
                "mp4", "mov", "mkv", "ts", "flv", "avi", "nut", "h264", "mxf", "asf", "f4v", "m2ts", "ismv", "3g2",
                "wtv",
            ],
            options: [
                ["-x264-params", "open-gop=1"], ["-x264-params", "intra-refresh=1"], ["-refs", "5"],
                ["-x264-params", "slices=4"], ["-flags", "+ildct+ilme"], ["-x264-params", "b-pyramid=strict"],
                ["-x264-params", "bff=1"], ["-tune", "zerolatency"], ["-x264-params", "fake-interlaced=1"],
                ["-x264-params", "b-pyramid=none:rc-lookahead=60"], ["-sc_threshold", "0"],
                ["-x264-params", "repeat-headers=1:aud=1"], ["-x264-params", "constrained-intra=1:keyint=infinite"],
            ], pixelFormats: ["yuv420p", "yuv422p", "yuv444p", "yuv420p10le", "gray"], reorders: true,
            filters: ["filter_units=remove_types=6", "dump_extra", "h264_metadata=aud=insert", "h264_redundant_pps"]),
        DifferKind(encoder: "libx264rgb", containers: ["mp4", "mkv", "nut"], options: [["-qp", "0"]], reorders: true),
        DifferKind(
            encoder: "libx265", containers: ["mp4", "mov", "mkv", "ts", "nut", "hevc"],
            options: [
                ["-x265-params", "log-level=none:open-gop=1"], ["-x265-params", "log-level=none:bframes=8:b-adapt=2"],
                ["-x265-params", "log-level=none:keyint=7"], ["-x265-params", "log-level=none:interlace=tff"],
                ["-x265-params", "log-level=none:radl=2"], ["-x265-params", "log-level=none:intra-refresh=1"],
                ["-x265-params", "log-level=none:slices=2:repeat-headers=1"],
            ], pixelFormats: ["yuv420p", "yuv420p10le", "yuv444p"],
            filters: ["filter_units=remove_types=39", "dump_extra"]),
        DifferKind(
            encoder: "libvpx", containers: ["webm", "mkv", "ivf", "nut", "avi"],
            options: [
                ["-auto-alt-ref", "1", "-lag-in-frames", "16", "-deadline", "good", "-cpu-used", "4"],
                ["-auto-alt-ref", "0", "-deadline", "realtime", "-cpu-used", "8"], ["-error-resilient", "1"],
                ["-pix_fmt", "yuva420p", "-auto-alt-ref", "0"], ["-slices", "4"],
            ], sizes: oddToo),
        DifferKind(
            encoder: "libvpx-vp9", containers: ["webm", "mkv", "ivf", "mp4", "nut"],
            options: [
                ["-auto-alt-ref", "1", "-lag-in-frames", "16", "-deadline", "good", "-cpu-used", "5"],
                ["-deadline", "realtime", "-cpu-used", "8"], ["-pix_fmt", "yuva420p", "-auto-alt-ref", "0"],
                ["-tile-columns", "1"], ["-frame-parallel", "1"], ["-error-resilient", "1"], ["-lossless", "1"],
            ], pixelFormats: ["yuv420p", "yuv444p"], sizes: oddToo,
            filters: ["vp9_superframe_split", "vp9_superframe_split", "vp9_raw_reorder"]),
        DifferKind(
            encoder: "libsvtav1", containers: ["mp4", "mkv", "webm", "ivf", "obu"],
            options: [["-preset", "10"], ["-preset", "12", "-svtav1-params", "pred-struct=1"]], sizes: ["192x128"],
            filters: ["av1_frame_split"]),
        DifferKind(
            encoder: "libaom-av1", containers: ["mp4", "mkv", "webm", "ivf", "obu"],
            options: [
                ["-cpu-used", "8", "-lag-in-frames", "16"], ["-usage", "realtime", "-cpu-used", "8"],
                ["-cpu-used", "8", "-error-resilience", "1"],
            ], sizes: ["98x66"], filters: ["av1_frame_split", "av1_metadata=td=remove"]),
        DifferKind(
            encoder: "mpeg1video", containers: ["mpg", "mkv", "avi", "nut", "m1v", "ts"],
            options: [["-mpv_flags", "+strict_gop"], ["-b_strategy", "1"], ["-slices", "3"]], rate: "25", reorders: true
        ),
        DifferKind(
            encoder: "mpeg2video",
            containers: ["mpg", "ts", "mkv", "mov", "avi", "nut", "m2v", "vob", "mxf", "m2ts", "wtv"],
            options: [
                ["-flags", "+ildct+ilme"], ["-flags", "+ildct+ilme", "-top", "1"], ["-mpv_flags", "+strict_gop"],
                ["-intra_vlc", "1"], ["-flags", "+cgop", "-sc_threshold", "1000000000"], ["-non_linear_quant", "1"],
            ], sizes: ["192x112", "176x144"], rate: "25", reorders: true),
        DifferKind(
            encoder: "mpeg4", containers: ["mp4", "mov", "mkv", "avi", "nut", "m4v", "ts", "3gp", "wtv"],
            options: [
                ["-flags", "+qpel"], ["-mpv_flags", "+strict_gop"], ["-flags", "+aic"], ["-data_partitioning", "1"],
                ["-flags", "+ildct+ilme"], ["-flags", "+cgop", "-sc_threshold", "1000000000"],
            ], reorders: true, filters: ["dump_extra"]),
        // Packs its pictures as DivX does.
        DifferKind(
            encoder: "libxvid", containers: ["avi", "avi", "mp4", "mkv", "nut", "m4v"], options: [["-flags", "+qpel"]],
            reorders: true, filters: ["mpeg4_unpack_bframes"]),
        DifferKind(
            encoder: "h263", containers: ["3gp", "mov", "avi", "mkv"], sizes: ["176x144", "352x288"],
            rate: "30000/1001"),
        DifferKind(
            encoder: "h263p", containers: ["avi", "mov", "mkv"],
            options: [["-umv", "1"], ["-structured_slices", "1"]]),
        DifferKind(encoder: "h261", containers: ["avi", "mkv", "nut", "h261"], sizes: ["176x144"], rate: "30000/1001"),
        DifferKind(encoder: "libtheora", containers: ["ogv", "mkv", "nut"], pixelFormats: ["yuv420p", "yuv444p"]),
        DifferKind(encoder: "snow", containers: ["avi", "nut", "mkv"], options: [["-pred", "1"]]),
    ]

    /// Codecs of old desktop programs and web pages.
    private static let windowsAndWeb: [DifferKind] = [
        DifferKind(encoder: "flv", containers: ["flv", "avi", "mkv", "swf"]),
        DifferKind(encoder: "msmpeg4v2", containers: ["avi", "asf", "mkv"]),
        DifferKind(encoder: "msmpeg4", containers: ["avi", "asf", "mkv"]),
        DifferKind(encoder: "wmv1", containers: ["asf", "avi", "mkv"]),
        DifferKind(encoder: "wmv2", containers: ["asf", "avi", "mkv"]),
        DifferKind(encoder: "rv10", containers: ["rm"], sizes: ["176x144"]),
        DifferKind(encoder: "rv20", containers: ["rm"], sizes: ["176x144"]),
        DifferKind(encoder: "qtrle", containers: ["mov", "mkv"], pixelFormats: ["rgb24", "rgb555be", "argb", "gray"]),
        DifferKind(encoder: "rpza", containers: ["mov", "mkv"]),
        DifferKind(encoder: "smc", containers: ["mov"], pixelFormats: ["pal8"]),
        DifferKind(encoder: "cinepak", containers: ["avi", "mov", "cpk"], sizes: ["192x108"]),
        DifferKind(encoder: "svq1", containers: ["mov", "mkv"], sizes: ["160x120"]),
        DifferKind(encoder: "roqvideo", containers: ["roq"], sizes: ["192x128"], rate: "30"),
        DifferKind(encoder: "zmbv", containers: ["avi", "mkv"], pixelFormats: ["pal8", "rgb24", "bgr0"]),
        DifferKind(encoder: "flashsv", containers: ["flv", "mkv"]),
        DifferKind(encoder: "flashsv2", containers: ["flv"]),
        DifferKind(encoder: "msvideo1", containers: ["avi", "mkv"], sizes: ["192x108"]),
        DifferKind(encoder: "gif", containers: ["gif", "mkv"], pixelFormats: ["pal8", "rgb8", "gray"], sizes: oddToo),
        DifferKind(encoder: "apng", containers: ["apng"], pixelFormats: ["rgb24", "rgba", "pal8", "gray16be"]),
    ]

    /// Each picture by itself, or by nothing but what decoders carry on.
    private static let withinFrames: [DifferKind] = [
        DifferKind(
            encoder: "mjpeg", containers: general + ["mp4", "mxf", "mjpeg", "swf"],
            pixelFormats: ["yuvj420p", "yuvj422p", "yuvj444p"], sizes: oddToo),
        DifferKind(encoder: "ljpeg", containers: ["avi", "mkv"], pixelFormats: ["bgr24", "yuvj420p"]),
        DifferKind(encoder: "jpegls", containers: ["avi", "mkv"], pixelFormats: ["rgb24", "gray", "gray16le"]),
        DifferKind(encoder: "jpeg2000", containers: ["mov", "mxf", "mkv", "nut"], pixelFormats: ["yuv420p", "rgb24"]),
        DifferKind(encoder: "libopenjpeg", containers: ["mov", "mkv"], pixelFormats: ["yuv420p", "rgba"]),
        DifferKind(
            encoder: "ffv1", containers: general, options: [["-coder", "1"], ["-level", "3", "-slices", "4"]],
            pixelFormats: ["yuv420p", "bgr0", "gray16le", "yuva420p", "bgra", "yuv444p12le"], sizes: oddToo),
        DifferKind(
            encoder: "huffyuv", containers: ["avi", "mkv", "mov"], options: [["-context", "1"]],
            pixelFormats: ["yuv422p", "rgb24", "bgra"]),
        DifferKind(
            encoder: "ffvhuff", containers: ["avi", "mkv"], options: [["-context", "1"]],
            pixelFormats: ["yuv420p", "yuv444p", "yuv420p10le"]),
        DifferKind(encoder: "utvideo", containers: ["avi", "mkv", "mov"], pixelFormats: ["yuv420p", "gbrp", "gbrap"]),
        DifferKind(
            encoder: "magicyuv", containers: ["avi", "mkv", "mov"], pixelFormats: ["yuv420p", "gbrp", "gbrap"]),
        DifferKind(
            encoder: "prores_ks", containers: ["mov", "mkv", "nut"], pixelFormats: ["yuv422p10le", "yuva444p10le"]),
        DifferKind(encoder: "prores_aw", containers: ["mov", "mxf", "mkv"], pixelFormats: ["yuv422p10le"]),
        DifferKind(
            encoder: "png", containers: ["mov", "mkv", "avi"], pixelFormats: ["rgb24", "rgba", "pal8", "gray"],
            sizes: oddToo),
        DifferKind(encoder: "tiff", containers: ["mkv", "mov"], pixelFormats: ["rgb24", "rgba", "pal8"]),
        DifferKind(encoder: "targa", containers: ["mov"], pixelFormats: ["bgr24", "bgra", "gray"]),
        DifferKind(encoder: "bmp", containers: ["avi"], pixelFormats: ["bgr24", "bgra", "pal8"]),
        DifferKind(encoder: "dpx", containers: ["mov", "nut"], pixelFormats: ["rgb24", "rgb48le"]),
        DifferKind(
            encoder: "hap", containers: ["mov", "avi"], options: [["-format", "hap_alpha"]], sizes: ["192x108"]),
        DifferKind(encoder: "speedhq", containers: ["nut"], pixelFormats: ["yuv420p", "yuv422p"]),
        DifferKind(encoder: "zlib", containers: ["avi", "nut"], sizes: ["192x108"]),
        DifferKind(encoder: "asv1", containers: ["avi", "mkv"]), DifferKind(encoder: "asv2", containers: ["avi"]),
        DifferKind(
            encoder: "dvvideo", containers: ["avi", "mov", "dv", "mxf"], pixelFormats: ["yuv420p"], sizes: ["720x576"],
            rate: "25"),
        DifferKind(
            encoder: "dnxhd", containers: ["mov", "mxf", "mkv"], options: [["-profile:v", "dnxhr_sq"]],
            pixelFormats: ["yuv422p"], sizes: ["320x256"], rate: "25"),
        DifferKind(
            encoder: "cfhd", containers: ["mov", "avi", "mkv", "nut"], pixelFormats: ["yuv422p10le", "gbrp12le"],
            sizes: ["192x128"]),
        DifferKind(
            encoder: "vc2", containers: ["mkv", "mov", "ts", "drc"], pixelFormats: ["yuv420p", "yuv422p10le"],
            sizes: ["192x128"]),
    ]

    private static let uncompressed: [DifferKind] = [
        DifferKind(
            encoder: "rawvideo", containers: general, pixelFormats: ["yuv420p", "yuyv422", "pal8", "rgb24", "bgra"],
            sizes: oddToo),
        DifferKind(encoder: "wrapped_avframe", containers: ["y4m"], pixelFormats: ["yuv420p", "yuv444p", "gray"]),
        DifferKind(encoder: "v210", containers: ["mov", "avi", "mkv", "nut"], pixelFormats: ["yuv422p10le"]),
        DifferKind(encoder: "v410", containers: ["mov"], pixelFormats: ["yuv444p10le"]),
        DifferKind(encoder: "v308", containers: ["mov"], pixelFormats: ["yuv444p"]),
        DifferKind(encoder: "r210", containers: ["mov"]),
        DifferKind(encoder: "y41p", containers: ["avi"], sizes: ["192x108"]),
    ]
}

/// A container that FFmpeg writes, by the ending of its files' names.
struct DifferContainer {
    /// Encoders of sound that it holds beside a video.
    var sound: [String] = []
    /// Options of its muxer that may be drawn.
    var options: [[String]] = []
    /// Whether frames can be shown at any time, not only at a constant rate.
    var keepsTimes = false
    /// Whether a reader can begin in the middle of a file, and go on into a file appended to it.
    var canBeJoined = false

    static func named(_ ending: String) -> DifferContainer { all[ending] ?? DifferContainer() }

    /// Sample rates that it supports, by encoder.
    static let rates: [String: [Int]] = [
        "aac": [48000, 44100, 22050], "ac3": [48000, 44100, 32000], "eac3": [48000, 44100],
        "mp2": [48000, 44100, 32000], "libmp3lame": [48000, 44100, 22050], "flac": [48000, 44100, 96000],
        "alac": [44100], "libopus": [48000, 24000], "libvorbis": [48000, 44100, 22050], "wmav2": [48000, 44100],
        "pcm_u8": [22050, 8000], "adpcm_ms": [44100],
    ]

    private static let quickTime = [
        ["-movflags", "frag_keyframe+empty_moov"], ["-movflags", "frag_keyframe+empty_moov+default_base_moof"],
        ["-frag_size", "3000"], ["-movflags", "negative_cts_offsets"], ["-use_editlist", "0"],
        ["-movflags", "faststart"],
    ]

    private static let all: [String: DifferContainer] = [
        "mp4": DifferContainer(
            sound: ["aac", "ac3", "eac3", "flac", "libopus", "libmp3lame", "mp2", "alac"], options: quickTime,
            keepsTimes: true),
        "mov": DifferContainer(sound: ["pcm_s16le", "pcm_u8", "aac", "alac"], options: quickTime, keepsTimes: true),
        "f4v": DifferContainer(sound: ["aac"], keepsTimes: true),
        "ismv": DifferContainer(sound: ["aac"], keepsTimes: true),
        "3gp": DifferContainer(sound: ["aac"], keepsTimes: true),
        "3g2": DifferContainer(sound: ["aac"], keepsTimes: true),
        "mkv": DifferContainer(
            sound: ["pcm_s16le", "flac", "libvorbis", "libopus", "aac", "ac3", "mp2", "libmp3lame", "alac"],
            options: [["-cluster_size_limit", "3000"], ["-live", "1"], ["-reserve_index_space", "5000"]],
            keepsTimes: true),
        "webm": DifferContainer(
            sound: ["libopus", "libvorbis"], options: [["-cluster_time_limit", "200"], ["-live", "1"]], keepsTimes: true
        ),
        "nut": DifferContainer(
            sound: ["pcm_s16le", "flac", "libvorbis", "mp2"],
            options: [["-syncpoints", "none"], ["-syncpoints", "timestamped"], ["-write_index", "0"]], keepsTimes: true),
        "avi": DifferContainer(
            sound: ["pcm_s16le", "pcm_u8", "ac3", "mp2", "libmp3lame", "adpcm_ms"],
            options: [["-reserve_index_space", "5000"], ["-flipped_raw_rgb", "1"]]),
        "ts": DifferContainer(
            sound: ["mp2", "aac", "ac3", "libopus", "libmp3lame"],
            options: [["-mpegts_flags", "resend_headers"], ["-muxdelay", "0"], ["-pes_payload_size", "0"]],
            keepsTimes: true, canBeJoined: true),
        "m2ts": DifferContainer(sound: ["ac3", "mp2"], keepsTimes: true, canBeJoined: true),
        "mpg": DifferContainer(sound: ["mp2", "ac3"], options: [["-f", "vob"], ["-f", "svcd"]], canBeJoined: true),
        "vob": DifferContainer(sound: ["mp2", "ac3"], canBeJoined: true),
        "flv": DifferContainer(
            sound: ["aac", "libmp3lame"], options: [["-flvflags", "no_duration_filesize"]], keepsTimes: true),
        "asf": DifferContainer(sound: ["wmav2", "libmp3lame"], options: [["-packet_size", "800"]], keepsTimes: true),
        "wtv": DifferContainer(sound: ["mp2", "ac3"]), "ogv": DifferContainer(sound: ["libvorbis", "flac", "libopus"]),
        "mxf": DifferContainer(sound: ["pcm_s16le"]), "rm": DifferContainer(sound: ["ac3"]),
        "h264": DifferContainer(canBeJoined: true), "hevc": DifferContainer(canBeJoined: true),
        "m1v": DifferContainer(canBeJoined: true), "m2v": DifferContainer(canBeJoined: true),
        "m4v": DifferContainer(canBeJoined: true), "obu": DifferContainer(canBeJoined: true),
        "mjpeg": DifferContainer(canBeJoined: true), "dv": DifferContainer(canBeJoined: true),
    ]
}
