package import ArgumentParser
package import ReelCore
internal import ReelJobs
internal import ReelWords

/// Options that describe the output, and options that shape the work.
package struct SpecOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Encoder or codec as FFmpeg spells it, for example libx265 or vp9; copy requires stream copy. Default: stream \
            copy if each packet is a whole frame, else the source's codec.
            """,
            valueName: "name"),
        completion: .list(
            ["copy"] + EncoderTraits.all.filter(\.isListed).flatMap { [$0.name, $0.codec] }.removingRepeats))
    var videoCodec: String?

    @Option(
        help: "Constant quality on the encoder's own scale. Default: 18 of x264 or its equivalent.",
        transform: Quality.read)
    var crf: Quality?

    @Option(help: "The encoder's preset. Default: medium or its equivalent.")
    var preset: String?

    @Option(
        help: ArgumentHelp(
            """
            Profile of the codec as FFmpeg spells it: for H.264 baseline, main, high, high10, high422, high444; for HEVC \
            main, main10, main422-10, main444-8, main444-10; for ProRes proxy, lt, standard, hq, 4444, 4444xq. Default: \
            what the pixel format takes.
            """, valueName: "name"))
    var profile: String?

    @Option(
        help: ArgumentHelp(
            """
            Bits per second instead of constant quality, for example 5M; source gives each chunk the rate of its part of \
            the source.
            """,
            valueName: "rate"),
        transform: BitRate.read)
    var bitrate: BitRate?

    @Flag(help: "Bit-exact pictures (FFV1) and sound (PCM), in mkv, mov, nut or avi; exact colours in webp and apng.")
    package var lossless = false

    @Option(help: "How to treat the sound: reverse, keep (forwards, as long as the video) or none.")
    package var audio: AudioMode = .reverse

    @Option(
        help: ArgumentHelp(
            "Encoder or codec of the sound as FFmpeg spells it. Default: the source's, if the container supports it.",
            valueName: "name"),
        completion: .list(AudioEncoderTraits.all.flatMap { [$0.name, $0.codec] }.removingRepeats))
    var audioCodec: String?

    @Option(
        help: ArgumentHelp(
            "Bits per second of each track of the sound, for example 192k. Default: 96k for each channel, 80k of Opus.",
            valueName: "rate"),
        transform: AudioBitRate.read)
    var audioBitrate: AudioBitRate?

    @Option(
        help: ArgumentHelp(
            """
            Tracks to keep beside the video, as FFmpeg spells streams: a and s for all sound and subtitles, a:0 and s:1 for \
            one, v for none of them. Example: a:0,s. Default: a,s.
            """, valueName: "list"),
        transform: TrackSelection.read)
    var tracks: TrackSelection?

    @Option(
        help: ArgumentHelp(
            """
            First moment of the source to show: seconds, HH:MM:SS.mmm, frames such as 30f, counted from 0, or a timecode \
            such as 00:00:01:12 or "00:00:01;12", counted from the first frame.
            """, valueName: "position"),
        transform: Position.read)
    var from: Position?

    @Option(
        help: ArgumentHelp("Moment of the source to stop before, in the same forms.", valueName: "position"),
        transform: Position.read)
    var to: Position?

    @Option(
        help: ArgumentHelp("How much of the source to show, in the same forms, instead of --to.", valueName: "length"),
        transform: Position.read)
    var duration: Position?

    @Option(
        help: """
            How to play the range: reverse, forward, or ping-pong (forward, then back). Default: reverse; with --stitch \
            forward.
            """)
    var play: Play?

    @Option(help: "How often to play it.")
    var times = 1

    @Option(
        help: ArgumentHelp(
            "Seconds of the source in a second of the output, as 2, 0.5 or 3/2: 1/16 to 16. The sound keeps its pitch.",
            valueName: "ratio"), transform: Speed.read)
    var speed: Speed?

    @Option(
        help: """
            How often ping-pong shows the frames at which it turns. once: of n frames, n forward and n - 2 back, so that a \
            loop never stutters. twice: all frames in both directions. Default: once.
            """)
    var turn: Turn?

    @Option(
        help: ArgumentHelp(
            """
            Length of the crossfade of the sound between repeats, and between videos that are stitched; 0 for hard cuts. \
            Default: half a frame, at least 10 ms.
            """, valueName: "time"),
        transform: ClockTime.read)
    var crossfade: ClockTime?

    @Flag(help: "Show all videos one after the other in one output.")
    package var stitch = false

    @Option(
        help: """
            shared: leave out frames without sound, and at joins as many as the crossfades need. none: keep all. Default: \
            none; with --stitch shared.
            """)
    var trim: Trim?

    @Option(
        help: ArgumentHelp(
            """
            Let the first audio track of this file be heard, forwards and as it is, instead of the sources' sound. It fades \
            out in the last half second.
            """, valueName: "file"), completion: .file())
    var soundtrack: String?

    @Option(
        help: ArgumentHelp("Moment of the soundtrack to begin with. Default: its start.", valueName: "time"),
        transform: ClockTime.read)
    var soundtrackFrom: ClockTime?

    @Flag(
        help: """
            Leave out what a timeline (.otio) has and an edit cannot show, with a warning: transitions become cuts, clips \
            without a file gaps; other sound and unknown effects are ignored. Default: refuse it.
            """)
    var lenient = false

    @Option(
        help: ArgumentHelp(
            """
            Size of the pictures in pixels, for example 640x360: scaled in proportion, upright, the rest black. Default: \
            the source's; for gif at most 640 wide.
            """, valueName: "WxH"), transform: PictureSize.read)
    var size: PictureSize?

    @Option(
        help: ArgumentHelp(
            """
            Pixel format as FFmpeg spells it, for example yuv420p. Default: the source's, or the nearest that the encoder \
            takes; yuv420p for H.264 in mp4 and mov if the source is in RGB, as GIFs and many recordings of screens are.
            """, valueName: "name"))
    var pixelFormat: String?

    @Option(
        help: ArgumentHelp(
            "Samples of the sound a second, for example 48000. Default: the source's, or the nearest that the encoder takes.",
            valueName: "rate"))
    var sampleRate: Int?

    @Option(
        help: ArgumentHelp(
            """
            Channels of the sound as FFmpeg spells them, for example mono, stereo or 5.1. Default: the source's, or the \
            nearest that the encoder takes.
            """, valueName: "layout"))
    var channelLayout: String?

    @Option(
        help: ArgumentHelp(
            """
            The most frames a second; every m-th frame of the source is shown. In videos, gaps and frozen frames become \
            frames at this rate. Default: all frames; 30 for gif, 50 for webp and apng.
            """, valueName: "rate"), transform: FrameRate.read)
    var fps: FrameRate?

    @Option(
        help: ArgumentHelp(
            "gif, webp and apng: how often players show it, or forever. Default: forever.", valueName: "times"),
        transform: Plays.read)
    var loop: Plays?

    @Option(
        help: """
            gif: how colours that the palette lacks are approximated: none, bayer, sierra or floyd-steinberg. \
            Default: sierra.
            """)
    var dither: Dither?

    @Option(help: ArgumentHelp("gif: the most colours, 2 to 256. Default: 256.", valueName: "number"))
    var colors: Int?

    @Option(help: "Mirror: each frame stays as long as it did. source: the source's timestamps.")
    package var timestamps: TimestampMode = .mirror

    @Option(
        help: ArgumentHelp(
            "The most frames in memory and in a pass; turns stream copy off.",
            valueName: "frames"))
    var passFrames: Int?

    @Option(
        help: ArgumentHelp(
            """
            Limit of a pass's memory, for example 768MiB. Default: no limit; chunks are made for 2GiB, which a pass exceeds \
            if 48 frames do not fit.
            """,
            valueName: "size"), transform: ByteSize.read)
    var memory: ByteSize?

    @Option(
        help: ArgumentHelp(
            """
            Threads of each codec; the same number gives the same bytes anywhere. auto: one, or more if there are fewer \
            passes than slots. Default: auto.
            """,
            valueName: "number"), transform: ThreadCount.read)
    var threads: ThreadCount?

    @Option(
        help: ArgumentHelp(
            """
            How the finished file is checked. packets: the bytes and times of every packet are compared with those that \
            were encoded. decode: also the count and times of all its frames. If the source had to be decoded to be \
            planned, decode is always used, and every frame is compared with the one that it mirrors.
            """))
    var verify: VerifyMode = .packets

    @Option(
        help: """
            For damaged frames. repeat: show the previous frame again if a frame does not decode, and frames with errors \
            as the decoder conceals them; fail: stop the job.
            """)
    var onDamage: DamageMode = .repeat

    /// For ArgumentParser.
    package init() {}

    /// Throws `ValidationError` for options that are invalid or exclude each other.
    package func validate() throws {
        guard JobSpec.threadCounts.contains(threads?.number ?? 1) else {
            throw ValidationError("--threads must be auto, or 1 to 128")
        }
        guard passFrames ?? 1 > 0 else { throw ValidationError("--pass-frames must be 1 or more") }
        guard crf == nil || bitrate == nil else { throw ValidationError("--crf and --bitrate exclude each other") }
        if let from, let to, to == from || to.precedes(from) == true {
            throw ValidationError("--to must be later than --from")
        }
        guard to == nil || duration == nil else { throw ValidationError("--to and --duration exclude each other") }
        guard duration?.isZero != true else { throw ValidationError("--duration must be above 0") }
        let names = [
            ("--video-codec", videoCodec), ("--audio-codec", audioCodec), ("--preset", preset),
            ("--pixel-format", pixelFormat), ("--profile", profile),
        ]
        for (option, name) in names {
            guard let name, !SpecOptions.isName(name) else { continue }
            throw ValidationError("\(option) \(name) is not a valid FFmpeg name")
        }
        guard JobSpec.sampleRates.contains(sampleRate ?? JobSpec.sampleRates.lowerBound) else {
            throw ValidationError(
                "--sample-rate must be \(JobSpec.sampleRates.lowerBound) to \(JobSpec.sampleRates.upperBound)")
        }
        guard LoopOptions.coloursAllowed.contains(colors ?? 2) else {
            throw ValidationError("--colors must be 2 to 256")
        }
        guard LoopOptions.playsAllowed.contains(loop?.number ?? 1) else {
            throw ValidationError("--loop must be forever, or 1 to \(LoopOptions.playsAllowed.upperBound)")
        }
        try validateEdit()
        guard lossless else { return }
        let lossy = [
            ("--crf", crf != nil), ("--bitrate", bitrate != nil), ("--preset", preset != nil),
            ("--profile", profile != nil), ("--audio-bitrate", audioBitrate != nil),
            ("--video-codec", videoCodec != nil), ("--audio-codec", audioCodec != nil),
            ("--pixel-format", pixelFormat != nil), ("--sample-rate", sampleRate != nil),
            ("--channel-layout", channelLayout != nil),
        ]
        if let (option, _) = lossy.first(where: \.1) {
            throw ValidationError("--lossless keeps pictures and sound as they are; leave out \(option)")
        }
    }

    private func validateEdit() throws {
        guard EditClip.timesAllowed.contains(times) else {
            throw ValidationError("--times must be 1 to \(EditClip.timesAllowed.upperBound)")
        }
        guard turn == nil || play == .pingPong else { throw ValidationError("--turn needs --play ping-pong") }
        guard crossfade == nil || stitch || times > 1 && play != .pingPong else {
            throw ValidationError("--crossfade needs --stitch, or --times 2 or more with --play reverse or forward")
        }
        guard soundtrackFrom == nil || soundtrack != nil else {
            throw ValidationError("--soundtrack-from needs --soundtrack")
        }
        guard soundtrack == nil || audio == .reverse else {
            throw ValidationError("--audio \(audio.rawValue) and --soundtrack exclude each other")
        }
        guard isEdit else { return }
        let plain = [
            ("--audio keep", audio == .keep), ("--timestamps source", timestamps == .source),
        ]
        if let (option, _) = plain.first(where: \.1) {
            throw ValidationError("\(option) needs --play reverse, played once")
        }
    }

    /// Throws if an option that shapes clips is given: an edit's file says all of that.
    func refuseClipOptions() throws {
        let given = [
            ("--play", play != nil), ("--times", times != 1), ("--speed", speed != nil), ("--turn", turn != nil),
            ("--crossfade", crossfade != nil), ("--trim", trim != nil), ("--from", from != nil), ("--to", to != nil),
            ("--duration", duration != nil), ("--stitch", stitch), ("--audio keep", audio == .keep),
            ("--timestamps source", timestamps == .source),
        ]
        if let (option, _) = given.first(where: \.1) {
            throw ValidationError("an edit's file says what its clips are; leave out \(option)")
        }
    }

    /// Whether the options ask for more than one range that is reversed once.
    private var isEdit: Bool {
        stitch || (play ?? .reverse) != .reverse || times > 1 || speed != nil || trim != nil || soundtrack != nil
    }

    /// How each video is played.
    private var clip: EditClip {
        EditClip(
            from: from, to: to, duration: duration, play: play ?? (stitch ? .forward : .reverse), times: times,
            speed: speed?.ratio ?? Rational(1))
    }

    /// The edit of one video; nil reverses a range of it once.
    func playing(_ file: String) -> SubmittedEdit? {
        guard isEdit else { return nil }
        return SubmittedEdit(
            playing: file, as: clip, turn: turn ?? .once, crossfade: crossfade?.seconds, trim: trim ?? .none)
    }

    /// The edit of files that are stitched.
    func stitching(_ files: [String]) -> SubmittedEdit {
        SubmittedEdit(
            stitching: files, as: clip, turn: turn ?? .once, crossfade: crossfade?.seconds, trim: trim ?? .shared)
    }

    /// What the default name of an output says was done.
    var deed: String {
        if stitch { return "stitched" }
        return switch play ?? .reverse {
        case .reverse: "reversed"
        case .pingPong: "ping-pong"
        case .forward: "cut"
        }
    }

    /// The encoders that are asked for, by any of their names.
    public var encoders: [String] { [videoCodec, audioCodec].compactMap { $0 } }

    private static func isName(_ text: String) -> Bool {
        let allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
        return !text.isEmpty && text.allSatisfy(allowed.contains)
    }

    /// Nil if nothing is asked of moving pictures that loop.
    private var loopOptions: LoopOptions? {
        let options = LoopOptions(plays: loop?.number, dither: dither, colours: colors)
        return options == LoopOptions() ? nil : options
    }

    /// The output of an edit; nil reverses the range of the options.
    func spec(_ container: Container, _ edit: Edit?) -> JobSpec {
        JobSpec(
            container: container, videoCodec: videoCodec, crf: crf?.value, preset: preset, profile: profile,
            bitrate: bitrate?.rate,
            lossless: lossless, audio: audio, audioCodec: audioCodec, audioBitrate: audioBitrate?.bits, tracks: tracks,
            from: edit == nil ? from : nil,
            to: edit == nil ? to : nil, duration: edit == nil ? duration : nil, edit: edit, size: size,
            mostFrames: fps?.ratio,
            pixelFormat: pixelFormat, sampleRate: sampleRate, channelLayout: channelLayout, loop: loopOptions,
            timestamps: timestamps, passFrames: passFrames,
            threads: threads?.number, memory: memory?.bytes, verify: verify, onDamage: onDamage)
    }
}
