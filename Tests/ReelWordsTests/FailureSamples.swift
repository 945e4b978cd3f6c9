import ReelCore

extension FailureReason {
    /// An example of every code, and of every fact that is an enumeration with facts.
    static let samples: [FailureReason] =
        sourceSamples + requestSamples + engineSamples + storeSamples + boardSamples + jobSamples
        + TimelinePart.samples.map {
            .editFlawed(path: "cut.otio", place: "tracks.children[1]", flaw: .notTaken(part: $0, name: "x"))
        }

    private static let path = "/media/one two.mp4"

    private static let sourceSamples: [FailureReason] = [
        .sourceUnreadable(path: path, errno: 13, passes: false),
        .sourceUnreadable(path: path, errno: 110, passes: true),
        .notMedia(path: path),
        .noVideo(path: path),
        .noSound(path: path),
        .encrypted(path: path),
        .noDecoder(path: path, stream: 2, codec: "vvc"),
        .headerDamaged(path: path, stream: 0, codec: "h264"),
        .nothingDecodes(path: path),
        .nothingDecodes(path: nil),
        .decoderStuck(codec: "aac"),
        .noFrames(path: path),
        .noFrames(path: nil),
        .noStart,
        .impossibleSizes(frameBytes: -1, reorderDepth: 2000),
        .sourceChanged(path: path, change: .packetSize, number: 7),
        .planDisproved(path: path, disproof: .missing, time: Rational(5, 4)),
        .decodesOtherwise(path: path, disproof: .picture, time: Rational(5, 4)),
        .pictureUnconvertible(width: 0, height: 16),
        .videoDamaged(path: path, damage: .missing, time: Rational(1251, 1000)),
        .soundOutOfReach(path: path, distance: Rational(-1 << 40)),
    ]

    private static let requestSamples: [FailureReason] = [
        .rangeEmpty(from: .seconds(Rational(5)), to: .seconds(Rational(9, 2))),
        .nothingInRange(from: .seconds(Rational(11)), to: nil, end: Rational(1001, 100)),
        .nothingInRange(from: nil, to: .seconds(Rational(0)), end: Rational(10)),
        .memoryTooSmall(allowed: 300 << 20, needed: 431 << 20, copies: false),
        .memoryTooSmall(allowed: 90 << 20, needed: 131 << 20, copies: true),
        .encoderUnknown(option: .videoCodec, name: "h267", known: ["libx264", "libx265"]),
        .encoderUnknown(option: .audioCodec, name: "acc", known: ["aac", "opus"]),
        .nothingInRange(
            from: .frames(300), to: .timecode(Timecode(seconds: 3, frame: 12, dropsFrames: false)), end: Rational(10)),
        .trackMissing(kind: .audio, number: 2, count: 1), .trackMissing(kind: .subtitles, number: 0, count: 0),
        .timecodeInvalid(timecode: "00:00:01:00", flaw: .rateUnknown),
        .timecodeInvalid(timecode: "00:00:01;12", flaw: .rateNotDropped(rate: Rational(25))),
        .timecodeInvalid(timecode: "00:00:01:30", flaw: .frameTooHigh(rate: Rational(30_000, 1001))),
        .timecodeInvalid(timecode: "00:01:00;00", flaw: .labelDropped),
        .editFlawed(path: "cut.json", place: "clips[2].from", flaw: .malformed(wanted: .position)),
        .editFlawed(path: "cut.json", place: "clips[2].duration", flaw: .malformed(wanted: .length)),
        .editFlawed(path: "cut.json", place: "", flaw: .notJSON(said: "Unexpected end of file")),
        .editFlawed(path: "cut.json", place: "", flaw: .tooLong(bytes: 32 << 20)),
        .editFlawed(path: "cut.json", place: "clips[0].form", flaw: .unknownKey(known: ["source", "from", "to"])),
        .editFlawed(path: "cut.json", place: "clips[3].duration", flaw: .missing),
        .editFlawed(path: "cut.json", place: "clips", flaw: .malformed(wanted: .list)),
        .editFlawed(
            path: "cut.json", place: "clips[1].times", flaw: .malformed(wanted: .count(least: 1, most: 10_000))),
        .editFlawed(
            path: "cut.json", place: "clips[1].speed",
            flaw: .malformed(wanted: .ratio(least: Rational(1, 16), most: Rational(16)))),
        .editFlawed(
            path: "cut.json", place: "turn", flaw: .malformed(wanted: .word(words: ["once", "twice"]))),
        .editFlawed(path: "cut.json", place: "clips[2].gap", flaw: .excludes(key: "source")),
        .editFlawed(
            path: "cut.json", place: "clips[2].from",
            flaw: .rangeEmpty(from: .seconds(Rational(12)), to: .seconds(Rational(9)))),
        .editFlawed(path: "cut.json", place: "clips", flaw: .clipCount(found: 0)),
        .editFlawed(path: "cut.json", place: "clips", flaw: .onlyGaps),
        .editFlawed(path: "cut.json", place: "clips[0].source", flaw: .sourceMissing(path: "/a/b.mov")),
        .editFlawed(
            path: "cut.otio", place: "tracks.children[0].children[2].effects[0].time_scalar",
            flaw: .timeScalar(scalar: "2.0", name: "run")),
        .editFlawed(path: "cut.otio", place: "tracks", flaw: .unknownSchema(schema: "Stack.3")),
        .editFlawed(path: "cut.otio", place: "tracks", flaw: .noVideoTrack),
        .editFlawed(path: "cut.otio", place: "", flaw: .timelineCount(found: 2)),
        .editFlawed(
            path: "cut.otio", place: "tracks.children[0].children[2].name", flaw: .notTaken(part: .nested, name: "")),
        .editFlawed(path: "cut.otio", place: "tracks", flaw: .malformed(wanted: .schema(names: ["Stack.1"]))),
        .editFlawed(path: "cut.otio", place: "global_start_time.value", flaw: .malformed(wanted: .number)),
        .editFlawed(path: "cut.otio", place: "global_start_time.rate", flaw: .malformed(wanted: .rate)),
        .editFlawed(path: "cut.otio", place: "global_start_time", flaw: .malformed(wanted: .moment)),
        .timelineSpeed(clip: 2, speed: Rational(3, 2)), .timelineSoundtrack,
        .clipOutOfRange(clip: 2, from: .seconds(Rational(11)), to: nil, end: Rational(10)),
        .clipUnshared(clip: 1), .soundtrackOutOfRange(from: Rational(60), end: Rational(25, 2)),
        .stillTooLong(clip: 3, frames: 180_000, most: 100_000),
        .dynamicRangesMixed(source: "night", main: "day"),
        .interlacedMixed(source: "tape"),
        .encoderAbsent(encoder: "libx265"),
        .encoderRefuses(
            encoder: "libx264", settings: [MediaOption(name: "preset", value: "fastest")], said: "Invalid argument"),
        .settingUnknown(encoder: "mjpeg", setting: "crf"),
        .optionUnsupported(option: .crf, encoder: "mjpeg"),
        .valueUnsupported(
            option: .pixelFormat, value: "rgb24", encoder: "libx265", known: ["yuv420p", "yuv422p", "yuv444p"]),
        .valueUnsupported(option: .channelLayout, value: "9.1", encoder: nil, known: ["mono", "stereo"]),
        .sizeIndivisible(encoder: "libx264", size: PictureSize(width: 321, height: 180), pixelFormat: "yuv420p"),
        .sizeTooLarge(container: .webp, size: PictureSize(width: 16_384, height: 1080), most: 16_383),
        .sourceRateUnsupported(encoder: "wmv2"),
        .pixelFormatUnsupported(encoder: "gif", pixelFormat: "gbrpf32le"),
        .pixelFormatLossy(encoder: "rawvideo", pixelFormat: "xyz12le"),
        .codecNotHeld(option: .audioCodec, codec: "flac", container: .webm),
        .noSoundHeld(container: .webm),
        .losslessCodecFixed(option: .audioCodec, codec: "aac", only: "pcm"),
        .losslessNotHeld(container: .mp4),
        .rawNotGivenBack(pixelFormat: "xyz12le", container: .mkv, lossless: true),
        .rawNotGivenBack(pixelFormat: "xyz12le", container: .mkv, lossless: false),
        .framesTooClose(time: Rational(1, 3), container: .mkv),
        .framesUneven(time: Rational(5, 2), length: Rational(1, 10), rate: Rational(30000, 1001), container: .avi),
        .frameRateNotHeld(rate: Rational(15), container: .mxf, known: [Rational(25), Rational(30000, 1001)]),
        .pictureTooLong(time: Rational(5, 2), length: Rational(700), container: .gif, most: 655),
        .copyWithOption(option: .passFrames),
        .optionNotOfContainer(option: .dither, container: .mp4),
        .copyImpossible(obstacle: .interFrames(codec: "h264")),
        .copyImpossible(obstacle: .interlaced),
        .copyImpossible(obstacle: .blackPictures),
        .copyImpossible(obstacle: .sourcesDiffer),
        .copyImpossible(obstacle: .packetsNotFrames(packets: 25, frames: 24)),
        .copyImpossible(obstacle: .packet(number: 3, time: Rational(1, 8), fault: .cutOff)),
        .copyImpossible(obstacle: .packet(number: 4, time: nil, fault: .corrupt)),
        .copyNotGivenBack(codec: "rawvideo", pixelFormat: "rgb24", container: .mkv),
    ]

    private static let engineSamples: [FailureReason] =
        [
            .mediaFailed(step: .encode, subject: "libx264", said: "Generic error in an external library"),
            .outOfMemory(step: .openDecoder, subject: "hevc"),
            .outOfMemory(step: .makeFrame, subject: nil),
            .diskFull(path: "/store/jobs/a1/segments/3.0.t.nut.part"),
            .diskFull(path: nil),
            .outputRefused(path: "/store/out.mp4", step: .openMuxer, said: "Permission denied"),
            .fileFailed(path: "/store/x", step: .sync, errno: 5, passes: true),
            .fileFailed(path: "/store/x", step: .make, errno: 30, passes: false),
            .jobFileUnreadable(path: "/store/jobs/a1/index", said: "No such file or directory"),
            .planLacks(part: .videoPass, number: 7),
            .indexVersion(version: 9, supported: 3),
            .indexDamaged(offset: 0, flaw: .start),
            .indexDamaged(offset: 4711, flaw: .checksum),
            .codecAbsent(codec: "mov_text", role: .encoder),
            .codecAbsent(codec: "mov_text", role: .codec),
            .encoderDiffers(encoder: "libx264"),
            .encoderMiscounts(encoder: "libx264", packets: 47, frames: 48),
            .packetWithoutTime(segment: "v0-240.a1.nut"),
            .nothingToEncode,
            .segmentMissing(segment: "v0-240", pass: 2),
            .segmentDiffers(segment: "v0-240.a1.nut", pass: 2),
            .segmentListUnreadable(path: "/tmp/list", said: nil),
            .segmentListUnreadable(path: "/tmp/list", said: "not JSON"),
            .partsEnded(parts: .segments),
            .engineUnstartable(executable: "/usr/bin/reel-engine", said: "No such file or directory"),
            .engineVersion(version: 3, supported: 4),
            .engineWithoutOutput,
            .requestUnwritable(said: "not JSON"),
            .engineInterrupted(place: .idle),
            .engineEnded,
            .engineHung(
                place: .pass(number: 7, frames: 240..<480), hang: .idle, seconds: Rational(120), lastWords: nil),
        ] + segmentFlaws.map { .segmentFlawed(segment: "v0-240.a1.nut", pass: 2, flaw: $0) }
        + verificationFlaws.map { .verificationFailed(stream: 1, flaw: $0) }
        + [.attachments, .chapters].map { .verificationFailed(stream: nil, flaw: $0) }
        + nonsense.map { .engineNonsense(place: .recon(source: path), nonsense: $0, lastWords: "bye") }
        + places.map { .engineDied(place: $0, end: .signalled(signal: 11), lastWords: "bad slice") }
        + [.exited(code: 1), .vanished].map { .engineDied(place: .start, end: $0, lastWords: nil) }

    private static let segmentFlaws: [SegmentFlaw] = [
        .noStream, .otherParameters, .otherContent, .missingFrames(count: 2), .unplannedFrame, .reordering, .short,
    ]

    private static let verificationFlaws: [VerificationFlaw] = [
        .missing, .decodeTimes, .excessPackets, .packetWithoutTime,
        .packetTime(packet: 3, found: Rational(1, 25), planned: Rational(2, 25)),
        .packetDuration(packet: 3, found: Rational(1, 25), planned: Rational(1, 24)),
        .packetCount(found: 47, planned: 48), .payload, .undecodable, .frameCount(found: 47, planned: 48),
        .frameTime(frame: 3, found: Rational(1, 25), planned: Rational(2, 25)), .framePicture(frame: 3),
    ]

    private static let nonsense: [EngineNonsense] =
        [
            .longLine(limit: 1 << 20), .unreadable(said: "Bad file descriptor"), .noEvent(line: "{"), .secondReady,
            .strayProgress, .strayResult, .strayFetch, .strayFailure(failure: ReelFailure(.noStart)), .closedOutput,
            .unfitFailure(code: "interrupted"), .manyThreads(most: 2000),
        ] + ResultPart.allCases.map { .unfitResult(part: $0) }

    private static let places: [EnginePlace] = [
        .start, .idle, .recon(source: path), .choice, .pass(number: 7, frames: 240..<480),
        .pass(number: 7, frames: nil), .assembly, .pictures,
    ]

    private static let boardSamples: [FailureReason] =
        [
            .passExhausted(pass: 3, attempts: 3, last: ReelFailure(.engineEnded)),
            .passExhausted(pass: -1, attempts: 1, last: ReelFailure(.noVideo(path: path))),
            .passLost(pass: 3, attempts: 20, worker: "w1"),
            .passOutOfMemory(
                pass: 3, planned: 431 << 20, doubled: true, last: ReelFailure(.outOfMemory(step: .encode, subject: nil))
            ),
            .passOutOfMemory(
                pass: 3, planned: 431 << 20, doubled: false,
                last: ReelFailure(.outOfMemory(step: .encode, subject: nil))),
            .noWorkerCan(host: "one", last: ReelFailure(.encoderDiffers(encoder: "libx264"))),
            .noWorkerCan(host: "one", last: ReelFailure(.noDecoder(path: path, stream: 0, codec: "vvc"))),
            .workerVanished(worker: "w1"),
            .encoderMissing(build: "libx264 Lavc59.37.100"),
            .boardOfOtherVersion(found: 9, known: 4),
            .boardUnprepared(found: nil, known: 3),
            .boardUnprepared(found: 1, known: 3),
            .boardOfNewerRelease(found: 4, known: 3),
            .redisUnreachable(address: "redis://10.0.0.5:6379", said: "Connection refused", passes: true),
            .redisRefused(address: "redis://10.0.0.5:6379", said: "NOAUTH Authentication required", passes: false),
            .boardLost(jobs: [JobID("a1")]),
            .boardLost(jobs: ["a1", "b2", "c3", "d4"].map { JobID($0) }),
            .boardUnreadable(said: "not JSON"),
            .passesVanished(job: JobID("a1")),
            .namespaceInvalid(name: "a:b"),
        ] + RedisAddressFault.allCases.map { .redisAddressInvalid(address: "http://x", fault: $0) }
        + JobFault.allCases.map { .jobContradictory(job: JobID("a1"), fault: $0) }

    private static let storeSamples: [FailureReason] = [
        .sourceInaccessible(path: path, errno: 13),
        .sourceIsFolder(path: path), .sourceEmpty(path: path), .sourceIsURL(url: "https://example.org/film.mp4"),
        .urlInvalid(url: "https://", flaw: "Its host is missing"),
        .stagedURL(url: "https://example.org/film.mp4"),
        .urlHostForbidden(url: "https://example.org/film.mp4"),
        .urlUnanswered(url: "https://example.org/film.mp4", said: "Connection refused"),
        .urlRefused(url: "https://example.org/film.mp4?…", status: 403),
        .urlRefused(url: "https://example.org/film.mp4", status: 404),
        .urlWithoutRanges(url: "https://example.org/film.mp4"),
        .urlMisanswered(url: "https://example.org/film.mp4", said: "bytes in another encoding"),
        .bucketMissing(role: .output, address: "s3://results/a.mp4"),
        .bucketMissing(role: .source, address: "s3://footage/a.mov"),
        .objectMissing(role: .source, address: "s3://footage/a.mov"),
        .objectMissing(role: .output, address: "s3://results/a.mp4"),
        .bucketDenied(role: .source, address: "s3://footage/a.mov"),
        .bucketDenied(role: .output, address: "s3://results/a.mp4"),
        .bucketElsewhere(role: .source, address: "s3://footage/a.mov", region: "eu-west-1", asked: "us-east-1"),
        .bucketElsewhere(role: .output, address: "s3://results/a.mp4", region: "eu-west-1", asked: "us-east-1"),
        .bucketElsewhere(role: .source, address: "s3://footage/a.mov", region: nil, asked: "us-east-1"),
        .bucketClockDiffers(role: .source, address: "s3://footage/a.mov", seconds: -1200),
        .bucketClockDiffers(role: .output, address: "s3://results/a.mp4", seconds: -1200),
        .bucketClockDiffers(role: .source, address: "s3://footage/a.mov", seconds: nil),
        .bucketKeysAbsent(role: .source, address: "s3://footage/a.mov", said: "the instance has no role"),
        .bucketKeysAbsent(role: .output, address: "s3://results/a.mp4", said: "the instance has no role"),
        .bucketKeysWrong(role: .source, address: "s3://footage/a.mov"),
        .bucketKeysWrong(role: .output, address: "s3://results/a.mp4"),
        .bucketKeysExpired(role: .source, address: "s3://footage/a.mov"),
        .bucketKeysExpired(role: .output, address: "s3://results/a.mp4"),
        .bucketUnanswered(role: .output, address: "s3://results/a.mp4", said: "503 Service Unavailable"),
        .bucketUnanswered(role: .source, address: "s3://footage/a.mov", said: "503 Service Unavailable"),
        .bucketMisanswered(role: .source, address: "s3://footage/a.mov", said: "400 InvalidRequest"),
        .bucketMisanswered(role: .output, address: "s3://results/a.mp4", said: "400 InvalidRequest"),
        .sourceIsPicture(path: path, codec: "png"),
        .quotaExceeded(quota: .pixels, asked: 256_000_000, most: 8_294_400),
        .quotaExceeded(quota: .duration, asked: 7200, most: 3600),
        .quotaExceeded(quota: .frames, asked: 432_000, most: 216_000),
        .quotaExceeded(quota: .tracks, asked: 17, most: 8),
        .quotaExceeded(quota: .output, asked: nil, most: 1 << 30),
        .quotaExceeded(quota: .passTime, asked: nil, most: 600),
        .quotaExceeded(quota: .passCPU, asked: nil, most: 1200),
        .quotaExceeded(quota: .jobTime, asked: nil, most: 7200),
        .quotaExceeded(quota: .jobCPU, asked: nil, most: 36000),
        .sourceOutside(path: path), .sourceRootUnusable(path: "/srv/films", errno: 2),
        .sourceNotAFile(path: path),
        .sourceChangedWhileCopied(path: path),
        .storeUnusable(doing: .makeFolder, path: "/store/jobs/a1", errno: 20),
        .storeFull(doing: .write, path: "/store/jobs/a1/plan.json", errno: 28),
        .storeFileDamaged(path: "/store/jobs/a1/job.json", said: "not JSON"),
        .storeFileForeign(path: "/store/jobs/a1/output.mkv"),
        .storeMissing(path: "/store"),
        .storeNameEmpty,
        .storeEmpty(path: "/store", board: StoreID("0123456789abcdef")),
        .storeDiffers(path: "/store", store: StoreID("fedcba9876543210"), board: StoreID("0123456789abcdef")),
        .storeOfOtherVersion(path: "/store", found: 9, known: 1),
        .workspaceForeign(path: "/out/.reel"),
        .resultDiffers(
            job: JobID("a1"), path: path, bytes: 4711, sha256: String(repeating: "ab", count: 32), recordedBytes: 4711,
            recordedSha256: String(repeating: "cd", count: 32)),
        .resultDiffers(
            job: JobID("a1"), path: path, bytes: 17, sha256: "", recordedBytes: 4711, recordedSha256: ""),
        .argumentNotText(text: #"bad\xFF.mp4"#),
        .notEncodable(said: "not JSON"),
        .segmentListUnwritable(path: "/tmp/list", errno: 5),
        .jobUnknownHere(job: JobID("a1"), path: "/store/jobs/a1"),
        .jobHeld(path: "/store/jobs/a1", pid: 4711, host: "elsewhere"),
        .jobHeld(path: "/store/jobs/a1", pid: nil, host: nil),
        .outputExists(path: "/out/x.mp4"),
        .outputIsSource(path: path),
        .folderWithoutVideos(path: "/in"), .outputIsFolder(path: "/out"),
        .outputNotAFile(path: "/dev/null"),
        .outputUnnamed(path: "/out/new/"),
        .outputNotTaken(address: "https://example.org/out.mp4", flaw: "it must begin with s3://"),
        .outputFolderMissing(path: "/out/no/x.mp4", folder: "/out/no"),
        .outputUnwritable(path: "/out/x.mp4", errno: 30),
        .outputFull(path: "/out/x.mp4", needed: 5 << 30, free: 1 << 30),
        .outputFull(path: "/out/x.mp4", needed: nil, free: 1 << 30),
        .copyInterrupted(path: "/out/x.mp4"),
        .planOfOtherVersion(found: 9, known: 4),
        .indexMissing(hash: "e3b0", folder: "/store/sources"),
        .jobOfOtherVersion(found: 9, known: 4),
    ]

    private static let job = JobID("a1")

    private static let jobSamples: [FailureReason] = [
        .outputTwice(path: "/out/a.mp4", source: "/in/a.mov"), .jobAmbiguous(name: "a", matches: [job, JobID("ab12")]),
        .jobUnended(job: job, seconds: 90),
        .workersAbsent(known: 0), .workersAbsent(known: 3),
        .jobUnknown(job: job), .jobNotOnBoard(job: job), .jobForgotten(job: job), .jobCancelled(job: job),
        .jobFailed(job: job), .jobNotFinished(job: job, state: .running), .jobEnded(job: job, state: .done),
        .jobNotFailed(job: job, state: .done), .jobNotFailed(job: job, state: nil),
        .jobNotEnded(job: job, state: .running),
        .jobsNotRecovered(jobs: [job]), .jobGoesOn(job: job), .jobHeldBack(job: job), .passesWait(job: job),
        .probeLost(job: job),
        .engineMisanswered(task: .recon),
        .sourceReplaced(path: path),
        .interrupted,
        .runStopped(last: ReelFailure(.diskFull(path: "/out"))),
        .runStopped(last: ReelFailure(.interrupted)),
        .workspaceUnusable(last: ReelFailure(.folderUnwritable(path: "/out/.reel", errno: nil))),
        .sourceOutOfReach(last: ReelFailure(.notMedia(path: path))),
        .planDiffers(job: job, plan: 2, store: "/store"),
        .noResult(job: job, state: .failed), .noResult(job: job, state: nil),
        .outputContainerDiffers(job: job, container: .mkv, output: "/out/x.mp4"),
        .outputNotNamed(output: "/out/x"),
        .storeNotNamed,
        .workerUnknown(name: "w9"),
        .redisUnusable(last: ReelFailure(.redisSilent(said: "Connection refused"))),
        .programMissing(name: "reel-engine", folder: "/usr/bin"),
        .programsNotFound,
        .redisFileUnusable(path: "/run/redis", errno: 2), .redisFileOpen(path: "/run/redis"),
        .secretFileUnusable(path: "/run/tokens", errno: 13), .secretFileOpen(path: "/run/tokens"),
        .secretTooShort(path: "/run/secret", least: 16), .webhooksTooMany(job: job, most: 8), .curlNotInstalled,
        .tokenFileDamaged(path: "/run/tokens", line: 3), .tokenNameTaken(name: "app", path: "/run/tokens"),
        .addressUnusable(address: "0.0.0.0:80", said: "Permission denied"),
        .sandboxIncomplete(missing: [.files]), .sandboxIncomplete(missing: [.files, .calls]),
        .folderUnwritable(path: "/out", errno: 13), .folderUnwritable(path: "/out", errno: nil),
        .redisNotInstalled,
        .redisSilent(said: "no memory"),
        .localWorkerEnded(said: "killed"),
        .unexpected(said: "an error"),
    ]
}
