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
        "mp2": [48000, 44100, 32000],
        "libmp3lame": [48000, 44100, 22050], "flac": [48000, 44100, 96000], "alac": [44100],
        "libopus": [48000, 24000], "libvorbis": [48000, 44100, 22050], "wmav2": [48000, 44100],
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
        "mov": DifferContainer(
            sound: ["pcm_s16le", "pcm_u8", "aac", "alac"], options: quickTime, keepsTimes: true),
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
            options: [["-syncpoints", "none"], ["-syncpoints", "timestamped"], ["-write_index", "0"]],
            keepsTimes: true),
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
