import ReelCore

/// Values with something in every field.
enum GoldenValues {
    private static let hash = String(repeating: "0a", count: 32)

    static let index: SourceIndex = {
        var index = Indexes.make(
            durations: [512, 512, 1024, 0, 512], keysAt: [0, 2], timeBase: TimeBase(1, 12_800), start: 1024,
            startTime: Rational(1, 25))
        index.video.packets[1].flags = .discarded
        index.video.frames[2].interval.duration = Ticks(1000)
        index.video.stream = stream
        index.audio = [sound]
        index.subtitles = [
            SubtitleTrack(
                parameters: SubtitleTrack.Parameters(
                    index: 2, codec: "webvtt", header: [87, 69], isTimedText: true, width: 640, height: 480,
                    timeBase: TimeBase(1, 1000), details: TrackDetails()),
                cues: [
                    Cue(
                        interval: Interval(start: Timestamp(-20), duration: Ticks(1500)),
                        text: CueText(payload: [72, 105], identifier: [49], settings: [97]))
                ])
        ]
        index.chapters = [Chapter(start: Rational(1, 3), end: Rational(1001, 30), title: "Kapitel")]
        index.attachments = [
            Attachment(
                index: 7, isCover: true, codec: "mjpeg", fileName: "cover.jpg", mediaType: "image/jpeg", title: "c",
                bytes: 4711)
        ]
        index.metadata = [MetadataEntry(name: "title", value: "Ein \"Test\" / ä")]
        index.passthrough = .possible(
            coded: CodedVideo(
                fourCC: 0x6867_6A6D, extradata: [1, 255], profile: -99, level: 3, bitsPerCodedSample: 24,
                containers: [.mov, .mkv]))
        return index
    }()

    private static let stream: VideoStream = {
        var stream = VideoStream(
            index: 1, codec: "hevc", width: 1920, height: 1080, pixelFormat: "yuv420p10le",
            timeBase: TimeBase(1, 12_800), frameRate: Rational(24000, 1001), sampleAspectRatio: Rational(64, 45),
            displayMatrix: [0, 65536, 0, -65536, 0, 0, 0, 0, 1 << 30],
            colour: ColourTags(
                range: "tv", primaries: "bt2020", transfer: "smpte2084", matrix: "bt2020nc", chromaLocation: "left"),
            fieldOrder: .topFirst, reorderDepth: 2, frameBytes: 6_220_800, details: details)
        (stream.profile, stream.level, stream.fieldsVary) = ("Main 10", 120, true)
        let point = { (x: Int64) in MasteringDisplay.Point(x: Rational(x, 50_000), y: Rational(1, 3)) }
        stream.masteringDisplay = MasteringDisplay(
            primaries: MasteringDisplay.Primaries(red: point(1), green: point(2), blue: point(3), white: point(4)),
            luminance: MasteringDisplay.Luminance(least: Rational(1, 10_000), most: Rational(1000)))
        stream.contentLight = ContentLight(pixel: 1000, average: 400)
        return stream
    }()

    private static let details = TrackDetails(language: "deu", title: "T", dispositions: ["default", "forced"])

    private static let sound = AudioTrack(
        index: 3, codec: "flac", sampleRate: 48_000, channels: 6, channelLayout: "5.1(side)", sampleFormat: "s32",
        bitsPerSample: 24, profile: "LC", timeBase: TimeBase(1, 48_000),
        span: Interval(start: Timestamp(-1024), duration: Ticks(480_000)), bytes: 65_536,
        steady: SteadySound(
            first: Timestamp(-1024), step: 1024, start: Timestamp(0), lead: 1024, count: 478_976),
        parameters: CodecParameters(
            extradata: "1190", frameSize: 1024, blockAlign: 4, bitrate: 192_000, profile: 1, bitsPerCodedSample: 16,
            bitsPerRawSample: 24, seekPreroll: 3840),
        details: details)

    static let plan = Plan(
        number: 3, sources: [PlannedSource(indexHash: hash)],
        encoders: ["libx265 Lavc59.37.100", "flac Lavc59.37.100"],
        container: .mkv,
        clips: [
            Clip(
                frames: 1..<5, timestamps: .mirror,
                map: TimeMap(
                    .backwards, source: TimeBase(1, 12_800), output: TimeBase(1, 12_800), start: Timestamp(1536),
                    end: Timestamp(3584)), audioFrom: Rational(2, 25), audioTo: Rational(28, 100))
        ],
        video: .encode(
            VideoEncoding(
                encoder: "libx265", format: format,
                options: [MediaOption(name: "preset", value: "medium"), MediaOption(name: "crf", value: "23.0")],
                bitrate: .source,
                threads: 1, keyFrameInterval: 250,
                identity: EncoderIdentity(build: "libx265 Lavc59.37.100", extradataHash: hash), coarsest: 34)),
        audio: [
            AudioTarget(
                track: 0, direction: .forwards, encoder: "copy", sampleRate: 48_000, channelLayout: "5.1(side)",
                bitrate: 192_000, lossless: true),
            AudioTarget(
                track: 0, direction: .backwards, encoder: "flac", sampleRate: 48_000, channelLayout: "5.1(side)",
                bitrate: nil, lossless: false, joints: SoundJoints(frame: 4608, before: 0, after: 0)),
        ],
        passes: [
            .audio(place: 0), .audio(place: 1, samples: 0..<230_400), .audio(place: 1, samples: 230_400..<478_976),
            .video(pass: VideoPass(randomAccessPoint: 1, frames: 3..<5, chunkCount: 2, windowFrames: 48, threads: 2)),
            .video(pass: VideoPass(randomAccessPoint: 0, frames: 1..<3, chunkCount: 1)),
        ],
        need: 2 << 30, verify: .decode, onDamage: .fail, diagnostics: [])

    private static let format = OutputFormat(
        timeBase: TimeBase(1, 12_800), width: 1920, height: 1080, pixelFormat: "yuv420p10le",
        frameRate: Rational(24000, 1001), fieldOrder: .progressive)

    static let passthrough = VideoTarget.passthrough(
        VideoPassthrough(
            format: format, identity: EncoderIdentity(build: "copy Lavc59.37.100", extradataHash: hash)))

    static let result = PassResult(
        segments: [
            SegmentRecord(
                content: SegmentContent(part: .video(frames: 3..<5), times: hash, target: hash), clip: 0, token: "5f0a",
                frames: 2, packets: 2, bytes: 4711, checksum: hash, timeBase: TimeBase(1, 12_800), reorderDepth: 1,
                extradataHash: hash),
            SegmentRecord(
                content: SegmentContent(part: .audio(track: 0), times: hash, target: hash), clip: 0, token: "5f0b",
                frames: 96_000, packets: 94, bytes: 12_345, checksum: hash, timeBase: TimeBase(1, 48_000),
                reorderDepth: 0, extradataHash: hash, initialPadding: 1024, trailingPadding: 256, start: -480),
        ],
        statistics: PassStatistics(
            framesDecoded: 12, framesEncoded: 2, decodeSeconds: 0.25, encodeSeconds: 1.5, waitSeconds: 0.125,
            peakRSS: 123_456_789), diagnostics: [])

    static let spec = JobSpec(
        container: .mov, videoCodec: "libx264", crf: 18.5, preset: "slow", bitrate: .constant(5_000_000),
        lossless: true, audio: .keep, audioCodec: "pcm_s16le", from: .seconds(Rational(1, 25)),
        to: .seconds(Rational(60)),
        timestamps: .source, passFrames: 240, threads: 4, memory: 1 << 30, verify: .decode, onDamage: .fail)
}
