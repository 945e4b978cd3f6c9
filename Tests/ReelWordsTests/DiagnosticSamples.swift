import ReelCore

extension Diagnostic {
    /// An example of every code, and of every fact that is an enumeration with facts.
    static let samples: [Diagnostic] = found + repaired + changed + leftOut + board

    private static let moments = Moments(
        count: 12,
        places: [
            Moments.Run(frames: 31..<32, first: Rational(31, 25), last: Rational(31, 25)),
            Moments.Run(frames: 35..<38, first: Rational(7, 5), last: Rational(37, 25)),
        ], more: 3)

    private static let found: [Diagnostic] = [
        .fileDamaged(offset: 4711),
        .sourceDecoded(why: .disproved, codec: "vp8", format: "matroska,webm"),
        .packetsUndecoded(packets: 3, first: Rational(5, 4), last: Rational(2)),
        .framesConcealed(frames: moments),
        .packetsSilent(track: 0, packets: 3, first: Rational(84, 125), last: Rational(108, 125)),
        .packetsSilent(track: 0, packets: 1, first: nil, last: nil),
        .holesSilent(track: 0, holes: 1, from: Rational(3, 2), to: Rational(23, 10)),
    ]

    private static let board: [Diagnostic] = [
        .redisTooOld(address: "redis://10.0.0.5:6379", version: "6.2.1"),
        .redisWithoutLog(address: "redis://10.0.0.5:6379"),
        .redisEvicts(address: "redis://10.0.0.5:6379"),
        .workerDiskFull(folders: ["/srv/reel", "/tmp"]),
        .workerSlotsOut(slots: 2, jobs: 3),
        .workerStoreUnusable(last: ReelFailure(.storeUnusable(doing: .write, path: "/srv/reel/jobs", errno: 30))),
        .workerClockDiffers(seconds: 691_200),
    ]

    private static let repaired: [Diagnostic] = [
        .clockRestarts(restarts: 1),
        .noTimestamps,
        .timesDerived(missing: 1, frames: 24),
        .framesMoved(frames: 3),
        .holesClosed(track: 0, holes: 2),
    ]

    private static let changed: [Diagnostic] = [
        .pixelFormatForPlayers(from: "bgra", to: "yuv420p", whole: "yuv444p", hasAlpha: true),
        .pixelFormatForPlayers(from: "rgb24", to: "yuv420p", whole: "yuv444p", hasAlpha: false),
        .pixelFormatChanged(encoder: "libx264", from: "rgba", to: "yuv444p", lost: [.colourModel, .alpha]),
        .pixelFormatChanged(
            encoder: "libvpx-vp9", from: "yuva420p", to: "yuv420p", lost: [.alpha], container: .mp4),
        .sourceConverted(
            source: "phone", from: PictureForm(width: 1080, height: 1920, pixelFormat: "yuv420p", matrix: "smpte170m"),
            to: PictureForm(width: 1920, height: 1080, pixelFormat: "yuv422p", matrix: "bt709", range: "tv"),
            turned: true),
        .sourceSubtitlesLeftOut(source: "b", kept: 1),
        .sourceColoursKept(
            source: "tape", from: ["smpte170m primaries", "iec61966-2-1 transfer"],
            to: ["bt709 primaries", "bt709 transfer"]),
        .fieldOrdersVary,
        .sourceSoundConverted(
            source: "phone", track: 0, from: SoundForm(layout: "mono", rate: 44_100, sample: "fltp"),
            to: SoundForm(layout: "stereo", rate: 48_000, sample: "s16")),
        .frameRatesUnified(from: [Rational(25), Rational(30_000, 1001)], to: Rational(30_000, 1001)),
        .frameRatesUnified(from: [Rational(25), Rational(30)], to: Rational(25)),
        .frameRatesUnified(from: [Rational(24), Rational(60)], to: Rational(30)),
        .framesScaled(width: 192, height: 108), .framesConverted(from: "gray", to: "yuv420p"),
        .interlacingInContainer(first: .top, encoder: "libx265"),
        .interlacingLost(first: .bottom, encoder: "libvpx-vp9"),
        .interlacingUniform(first: .top, encoder: "libx264"),
        .rotationLost(container: .mkv),
        .highDynamicRangeUnmapped, .highDynamicRangeMapped,
        .lightLost(encoder: "libx264", container: .ts),
        .colourLost(encoder: "ffv1", container: .nut), .rangeLimited(encoder: "prores_ks"),
        .encoderUntried(encoder: "ac3"), .videoCodecChanged(container: .avi, from: "h264", to: "mjpeg"),
        .videoCodecChanged(container: .mp4, from: "mjpeg", to: "h264"),
        .audioCodecChanged(track: 0, from: "vorbis", to: "aac"),
        .sampleRateChanged(track: 0, encoder: "libopus", from: 44100, to: 48000),
        .channelsChanged(track: 0, encoder: "libmp3lame", from: "5.1", to: "stereo"),
        .sampleDepthReduced(track: 0, codec: "flac", bits: 24),
        .soundUnified(
            track: 0, changes: 2, time: Rational(2), from: SoundForm(layout: "5.1", rate: 48000, sample: "fltp"),
            to: SoundForm(layout: "mono", rate: 32000, sample: "fltp"),
            made: SoundForm(layout: "5.1", rate: 48000, sample: "fltp")),
        .soundTrimmed(track: 0, length: Rational(3, 100)),
        .subtitlesConverted(track: 0, from: "subrip", to: "mov_text"),
        .languagesLost(container: .mp4, languages: ["nds", "gsw"]),
    ]

    private static let refusals: [StreamRefusal] = [
        .chapterPictures, .emptyCover, .notMain(main: 0), .subtitlesNotText, .encrypted, .noDecoder, .empty,
        .undecodable, .impossibleRate(rate: 3), .notKept,
    ]

    private static let leftOut: [Diagnostic] =
        [.firstFramesLeftOut(frames: 12)]
        + refusals.map { .streamLeftOut(stream: 2, kind: "video", codec: "mjpeg", refusal: $0) }
        + [
            .dataLeftOut(streams: [DataStream(stream: 1, kind: "tmcd"), DataStream(stream: 3, kind: "mett")]),
            .pictureExtraLeftOut(extra: .closedCaptions),
            .dolbyVisionLeftOut(profile: 8, wrongColours: false),
            .dolbyVisionLeftOut(profile: nil, wrongColours: true),
            .soundNotHeard(track: 0),
            .cuesWithoutTime(stream: 3, cues: 2),
            .cuesUnwritable(stream: 3, cues: 2, codec: "mov_text"),
            .subtitlesLeftOut(container: .ts),
            .soundLeftOut(container: .gif),
            .loopReduced(width: 320, height: 180, step: 1, colours: 256),
            .loopReduced(width: 320, height: 180, step: 2, colours: nil),
            .loopReduced(width: 64, height: 36, step: 5, colours: 32),
            .picturesLeftOut(container: .mp3),
            .audioTracksLeftOut(container: .wav, tracks: 3),
            .chaptersLeftOut(container: .ts),
            .chaptersLeftOut(container: .wav),
            .attachmentsLeftOut(container: .mp4, names: ["f.ttf"]),
            .attachmentsLeftOut(container: .wav, names: ["cover.jpg"]),
            .tagsLeftOut(container: .ts, names: ["title", "artist"]),
            .tagsLeftOut(container: .mp4, names: [String(repeating: "x", count: 61)] + (1...10).map { "tag \($0)" }),
            .timecodeLeftOut(container: .mp4),
        ]
        + TimelinePart.samples.map { .timelinePartLeftOut(place: "tracks.children[1]", name: "x", part: $0) }
}

extension TimelinePart {
    /// An example of every part.
    static let samples: [TimelinePart] = [
        .transition, .nested, .schema(name: "Sequence.1"), .generator, .imageSequence, .noMedia,
        .remoteMedia(url: "https://example.com/a.mov"), .missingFile(path: "/a/b.mov"), .effect(name: "LUT"),
        .otherSound,
        .trimmedTrack, .videoTrack, .otherTrack(kind: "Subtitle"), .startTime,
    ]
}
