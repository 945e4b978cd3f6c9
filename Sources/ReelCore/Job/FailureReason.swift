/// Why something did not work: a stable code with its facts. It is stored, sent and counted in this form; in JSON it is
/// an object whose only key is the code, with the facts under it. A code never gets another meaning.
///
/// `ReelWords` has the meaning of each code; the comments here add what its facts are. Clips, tracks and streams are
/// counted from 0. Times are in seconds, those of a source from the file's start; memory and files are in bytes, and
/// pictures in pixels. A fact is nil if it is unknown. `said` quotes a library, a program or the operating system,
/// `errno` is the system's error number, `known` has the possible values or the version of this program, `last` is the
/// failure that led to this one, and `passes` says that it may work soon.
package indirect enum FailureReason: Hashable, Codable, Sendable {
    // MARK: Source
    case sourceUnreadable(path: String, errno: Int32, passes: Bool)
    case notMedia(path: String)
    case sourceIsPicture(path: String, codec: String)
    case noVideo(path: String)
    case noSound(path: String)
    case encrypted(path: String)
    case noDecoder(path: String, stream: Int, codec: String)
    case headerDamaged(path: String, stream: Int, codec: String)
    case nothingDecodes(path: String?)
    case decoderStuck(codec: String)
    case noFrames(path: String?)
    /// No random access point lies at the video's first frame.
    case noStart
    /// An index gives sizes that no video has: bytes of a frame, and frames that a decoder keeps to reorder them.
    case impossibleSizes(frameBytes: Int64, reorderDepth: Int)
    /// `number` is the stream or packet that shows the change.
    case sourceChanged(path: String, change: SourceChange, number: Int)
    /// A pass decodes something else than its plan was made from. The source must be decoded as a whole and the job
    /// planned anew.
    case planDisproved(path: String, disproof: PlanDisproof, time: Rational)
    /// A pass decodes something else on this host than came out when the whole source was decoded.
    case decodesOtherwise(path: String, disproof: PlanDisproof, time: Rational)
    case pictureUnconvertible(width: Int, height: Int)
    case videoDamaged(path: String, damage: FrameDamage, time: Rational)
    case soundOutOfReach(path: String, distance: Rational)

    // MARK: Request
    case rangeEmpty(from: Position, to: Position)
    case soundHasNoFrames(position: Position)
    /// The video ends at `end`.
    case nothingInRange(from: Position?, to: Position?, end: Rational)
    /// The timecode is a bound of a range, or its length.
    case timecodeInvalid(timecode: String, flaw: TimecodeFlaw)
    case trackMissing(kind: TrackSelection.Kind, number: Int, count: Int)
    /// `place` is where the flaw is, as "clips[2].from"; empty for the whole file.
    case editFlawed(path: String, place: String, flaw: EditFlaw)
    case timelineSpeed(clip: Int, speed: Rational)
    case timelineSoundtrack
    case clipOutOfRange(clip: Int, from: Position?, to: Position?, end: Rational)
    case clipUnshared(clip: Int)
    /// A moment that is rewound has `frames` frames, and needs `least`.
    case rangeTooShort(from: Position?, to: Position?, frames: Int, least: Int)
    /// The soundtrack's sound ends at `end`, before it is to begin.
    case soundtrackOutOfRange(from: Rational, end: Rational)
    /// With this still, which would become `frames` frames, all stills of the edit together would exceed the most.
    case stillTooLong(clip: Int, frames: Int, most: Int)
    case dynamicRangesMixed(source: String, main: String)
    case interlacedMixed(source: String)
    /// With `copies`, the memory of the assembly of a passthrough, else that of a pass.
    case memoryTooSmall(allowed: Int64, needed: Int64, copies: Bool)
    case encoderUnknown(option: JobSpec.Option, name: String, known: [String])
    case encoderAbsent(encoder: String)
    case encoderRefuses(encoder: String, settings: [MediaOption], said: String)
    case settingUnknown(encoder: String, setting: String)
    case optionUnsupported(option: JobSpec.Option, encoder: String)
    /// Without an encoder, FFmpeg does not know the value.
    case valueUnsupported(option: JobSpec.Option, value: String, encoder: String?, known: [String])
    /// Pairs of pixels share the chroma of the pixel format.
    case sizeIndivisible(encoder: String, size: PictureSize, pixelFormat: String)
    case sizeTooLarge(container: Container, size: PictureSize, most: Int)
    /// Even the coarsest pictures make an output of at least `least` bytes, where `most` are allowed.
    case sizeUnreachable(most: Int64, least: Int64)
    /// The encoder writes its rate into its parameters, so chunks that follow the source's rate do not join.
    case sourceRateUnsupported(encoder: String)
    case pixelFormatUnsupported(encoder: String, pixelFormat: String)
    case pixelFormatLossy(encoder: String, pixelFormat: String)
    case codecNotHeld(option: JobSpec.Option, codec: String, container: Container)
    case noSoundHeld(container: Container)
    case losslessCodecFixed(option: JobSpec.Option, codec: String, only: String)
    case losslessNotHeld(container: Container)
    case rawNotGivenBack(pixelFormat: String, container: Container, lossless: Bool)
    case framesTooClose(time: Rational, container: Container)
    /// The container shows a picture for at most `most` seconds. Times are of the output.
    case pictureTooLong(time: Rational, length: Rational, container: Container, most: Int)
    /// The container shows all frames equally long, `rate` in a second. Times are of the output.
    case framesUneven(time: Rational, length: Rational, rate: Rational, container: Container)
    case frameRateNotHeld(rate: Rational, container: Container, known: [Rational])
    case copyWithOption(option: JobSpec.Option)
    case optionNotOfContainer(option: JobSpec.Option, container: Container)
    case copyImpossible(obstacle: PassthroughObstacle)
    case copyNotGivenBack(codec: String, pixelFormat: String, container: Container)

    // MARK: Engine
    /// A call of libav* failed. Here and below, `subject` is the codec, file or format concerned.
    case mediaFailed(step: MediaStep, subject: String?, said: String)
    case outOfMemory(step: MediaStep, subject: String?)
    case diskFull(path: String?)
    /// The muxer rejects the streams to be written.
    case outputRefused(path: String, step: MediaStep, said: String)
    /// A file operation on one of reel's own files failed.
    case fileFailed(path: String, step: FileStep, errno: Int32, passes: Bool)
    case jobFileUnreadable(path: String, said: String)
    case planLacks(part: PlanPart, number: Int)
    case indexVersion(version: Int, supported: Int)
    /// `offset` is the byte at which the flaw was found.
    case indexDamaged(offset: Int, flaw: IndexFlaw)
    case codecAbsent(codec: String, role: CodecRole)
    case encoderDiffers(encoder: String)
    case encoderMiscounts(encoder: String, packets: Int, frames: Int)
    /// At no rate that was tried does the encoder make as few bits of a chunk as its part of the output's size allows.
    case chunkTooLarge(encoder: String)
    /// The finished output has more bytes than are allowed.
    case outputTooLarge(most: Int64, bytes: Int64)
    case packetWithoutTime(segment: String)
    case nothingToEncode
    /// Here and below, `pass` is the pass that makes the segment, by its place in the plan; it has to be done again.
    case segmentFlawed(segment: String, pass: Int?, flaw: SegmentFlaw)
    case segmentMissing(segment: String, pass: Int)
    case segmentDiffers(segment: String, pass: Int)
    /// Only release 0.1 reports this.
    case segmentListUnreadable(path: String, said: String?)
    case partsEnded(parts: OutputPart)
    /// `stream` is nil if the flaw is outside the streams.
    case verificationFailed(stream: Int?, flaw: VerificationFlaw)
    case engineUnstartable(executable: String, said: String)
    case engineVersion(version: Int, supported: Int)
    case engineWithoutOutput
    case requestUnwritable(said: String)
    case engineInterrupted(place: EnginePlace)
    case engineEnded
    /// The engine was stopped after `seconds` in the state that `hang` names. Here and below, `lastWords` is the last
    /// line on its standard error.
    case engineHung(place: EnginePlace, hang: EngineHang, seconds: Rational, lastWords: String?)
    case engineNonsense(place: EnginePlace, nonsense: EngineNonsense, lastWords: String?)
    case engineDied(place: EnginePlace, end: EngineEnd, lastWords: String?)

    // MARK: Store
    case sourceInaccessible(path: String, errno: Int32)
    case sourceIsFolder(path: String)
    case folderWithoutVideos(path: String)
    case sourceEmpty(path: String)
    case sourceIsURL(url: String)
    /// Here and below, a URL is given without its query.
    case urlInvalid(url: String, flaw: String)
    case stagedURL(url: String)
    case urlHostForbidden(url: String)
    case urlUnanswered(url: String, said: String)
    case urlRefused(url: String, status: Int)
    case urlWithoutRanges(url: String)
    case urlMisanswered(url: String, said: String)
    /// Here and below, `role` says who needs the bytes, and `address` is s3://bucket/key.
    case bucketMissing(role: ByteRole, address: String)
    case objectMissing(role: ByteRole, address: String)
    case bucketDenied(role: ByteRole, address: String)
    case bucketElsewhere(role: ByteRole, address: String, region: String?, asked: String)
    /// `seconds` is how far the store's clock is ahead, if the store says it.
    case bucketClockDiffers(role: ByteRole, address: String, seconds: Int64?)
    case bucketKeysAbsent(role: ByteRole, address: String, said: String)
    case bucketKeysWrong(role: ByteRole, address: String)
    case bucketKeysExpired(role: ByteRole, address: String)
    case bucketUnanswered(role: ByteRole, address: String, said: String)
    case bucketMisanswered(role: ByteRole, address: String, said: String)
    case sourceNotAFile(path: String)
    case sourceChangedWhileCopied(path: String)
    case storeUnusable(doing: StoreStep, path: String, errno: Int32)
    case storeFull(doing: StoreStep, path: String, errno: Int32)
    case storeFileDamaged(path: String, said: String)
    case storeFileForeign(path: String)
    case storeMissing(path: String)
    case storeNameEmpty
    case storeNameInvalid(name: String, flaw: String)
    /// Its writer was stopped for so long that another may write by now.
    case storeTurnLost(path: String)
    case storeEmpty(path: String, board: StoreID)
    case storeDiffers(path: String, store: StoreID, board: StoreID)
    case storeOfOtherVersion(path: String, found: Int, known: Int)
    case workspaceForeign(path: String)
    case resultDiffers(
        job: JobID, path: String, bytes: Int64, sha256: String, recordedBytes: Int64, recordedSha256: String)
    /// In `text`, bytes that are not UTF-8 are escaped.
    case argumentNotText(text: String)
    case notEncodable(said: String)
    /// Only release 0.1 reports this.
    case segmentListUnwritable(path: String, errno: Int32)
    case jobUnknownHere(job: JobID, path: String)
    case jobHeld(path: String, pid: Int?, host: String?)
    case storeHeld(path: String, pid: Int?, host: String?)
    case outputExists(path: String)
    case outputIsSource(path: String)
    case outputIsFolder(path: String)
    case outputNotAFile(path: String)
    case outputUnnamed(path: String)
    case outputNotTaken(address: String, flaw: String)
    case outputFolderMissing(path: String, folder: String)
    case outputUnwritable(path: String, errno: Int32)
    case outputFull(path: String, needed: Int64?, free: Int64)
    case copyInterrupted(path: String)
    case planOfOtherVersion(found: Int, known: Int)
    case indexMissing(hash: String, folder: String)
    case jobOfOtherVersion(found: Int, known: Int)
    /// A machine has too little room for what it must fetch from a store in a bucket.
    case scratchTooSmall(path: String, needed: Int64, free: Int64)

    // MARK: Board
    /// A pass failed for the last allowed time; -1 is the probe.
    case passExhausted(pass: Int, attempts: Int, last: ReelFailure)
    case passLost(pass: Int, attempts: Int, worker: String)
    /// A pass needs more than the `planned` bytes; `doubled` if it had twice as many.
    case passOutOfMemory(pass: Int, planned: Int64, doubled: Bool, last: ReelFailure)
    /// The job excludes every live worker; `host` and `last` are the host and the reason of the latest one.
    case noWorkerCan(host: String, last: ReelFailure)
    case workerVanished(worker: String)
    case encoderMissing(build: String)
    case boardOfOtherVersion(found: Int, known: Int)
    /// Redis has no functions of the board (`found` is nil), or those of an older version, and this program may not
    /// load its own.
    case boardUnprepared(found: Int?, known: Int)
    /// Redis has functions of a newer release, which do not serve this one.
    case boardOfNewerRelease(found: Int, known: Int)
    case redisUnreachable(address: String, said: String, passes: Bool)
    case redisRefused(address: String, said: String, passes: Bool)
    /// Redis restarted without jobs that it had: its log was applied in part, or is gone.
    case boardLost(jobs: [JobID])
    case boardUnreadable(said: String)
    /// No release throws it after 0.1.0, whose records and boards may hold it.
    case passesVanished(job: JobID)
    /// The address is given without its password; nil if it is not a URL.
    case redisAddressInvalid(address: String?, fault: RedisAddressFault)
    /// `name` has 64 characters at most.
    case namespaceInvalid(name: String)
    case jobContradictory(job: JobID, fault: JobFault)
    case jobNotEnded(job: JobID, state: JobState)

    // MARK: Jobs
    case outputTwice(path: String, source: String)
    case jobUnknown(job: JobID)
    /// The ids of several jobs begin so. `matches` has five of them at most.
    case jobAmbiguous(name: String, matches: [JobID])
    case jobUnended(job: JobID, seconds: Int64)
    case workersAbsent(known: Int)
    case jobNotOnBoard(job: JobID)
    case jobForgotten(job: JobID)
    case jobCancelled(job: JobID)
    case jobFailed(job: JobID)
    case jobNotFinished(job: JobID, state: JobState)
    case jobEnded(job: JobID, state: JobState)
    case jobNotFailed(job: JobID, state: JobState?)
    case jobsNotRecovered(jobs: [JobID])
    case jobGoesOn(job: JobID)
    /// A user paused the job, so its assembly is handed back.
    case jobHeldBack(job: JobID)
    /// Passes of the job wait for a slot, so its assembly is handed back.
    case passesWait(job: JobID)
    case probeLost(job: JobID)
    /// An engine's result does not belong to this task, which it was asked to do.
    case engineMisanswered(task: EngineTask)
    case sourceReplaced(path: String)
    case interrupted
    /// `run` stopped for this reason; the same command continues the job.
    case runStopped(last: ReelFailure)
    case workspaceUnusable(last: ReelFailure)
    /// `asked` is nil if only the limit is known.
    case quotaExceeded(quota: Quotas.Quota, asked: Int64?, most: Int64)
    case sourceOutside(path: String)
    case sourceRootUnusable(path: String, errno: Int32)
    case sourceOutOfReach(last: ReelFailure)
    /// The store's plan of this number, `plan`, differs from the board's.
    case planDiffers(job: JobID, plan: Int, store: String)
    case noResult(job: JobID, state: JobState?)
    case outputContainerDiffers(job: JobID, container: Container, output: String)
    case outputNotNamed(output: String)
    case storeNotNamed
    case workerUnknown(name: String)
    case redisUnusable(last: ReelFailure)
    case programMissing(name: String, folder: String)
    case programsNotFound
    case redisFileUnusable(path: String, errno: Int32)
    case redisFileOpen(path: String)
    case secretFileUnusable(path: String, errno: Int32)
    case secretFileOpen(path: String)
    case tokenFileDamaged(path: String, line: Int)
    case tokenNameTaken(name: String, path: String)
    case secretTooShort(path: String, least: Int)
    case webhooksTooMany(job: JobID, most: Int)
    case curlNotInstalled
    case addressUnusable(address: String, said: String)
    case sandboxIncomplete(missing: [SandboxPart])
    case folderUnwritable(path: String, errno: Int32?)
    case redisNotInstalled
    case redisSilent(said: String)
    case localWorkerEnded(said: String)
    case localServerEnded(said: String)
    case unexpected(said: String)
}

extension FailureReason {
    /// The codes, in the order of docs/diagnostics.md. They are stored: never change one.
    package enum CodingKeys: String, CodeKey {
        case sourceUnreadable, notMedia, sourceIsPicture, noVideo, noSound, encrypted, noDecoder, headerDamaged,
            nothingDecodes, decoderStuck, noFrames, noStart, impossibleSizes, sourceChanged, planDisproved,
            decodesOtherwise, pictureUnconvertible, videoDamaged, soundOutOfReach
        case rangeEmpty, nothingInRange, soundHasNoFrames, timecodeInvalid, trackMissing, editFlawed, timelineSpeed,
            timelineSoundtrack,
            clipOutOfRange, clipUnshared, rangeTooShort, soundtrackOutOfRange, stillTooLong, dynamicRangesMixed,
            interlacedMixed,
            memoryTooSmall, encoderUnknown, encoderAbsent, encoderRefuses, settingUnknown, optionUnsupported,
            valueUnsupported, sizeIndivisible, sizeTooLarge, sizeUnreachable, sourceRateUnsupported,
            pixelFormatUnsupported,
            pixelFormatLossy, codecNotHeld, noSoundHeld, losslessCodecFixed, losslessNotHeld, rawNotGivenBack,
            framesTooClose, pictureTooLong, framesUneven, frameRateNotHeld, copyWithOption, optionNotOfContainer,
            copyImpossible, copyNotGivenBack
        case mediaFailed, outOfMemory, diskFull, outputRefused, fileFailed, jobFileUnreadable, planLacks, indexVersion,
            indexDamaged, codecAbsent, encoderDiffers, encoderMiscounts, chunkTooLarge, outputTooLarge,
            packetWithoutTime,
            nothingToEncode, segmentFlawed, segmentMissing, segmentDiffers, segmentListUnreadable, partsEnded,
            verificationFailed,
            engineUnstartable, engineVersion, engineWithoutOutput, requestUnwritable, engineInterrupted, engineEnded,
            engineHung, engineNonsense, engineDied
        case sourceInaccessible, sourceIsFolder, folderWithoutVideos, sourceEmpty, sourceIsURL, urlInvalid,
            stagedURL, urlHostForbidden, urlUnanswered, urlRefused, urlWithoutRanges, urlMisanswered, bucketMissing,
            objectMissing, bucketDenied, bucketElsewhere, bucketClockDiffers, bucketKeysAbsent, bucketKeysWrong,
            bucketKeysExpired, bucketUnanswered, bucketMisanswered, sourceNotAFile, sourceChangedWhileCopied,
            storeUnusable, storeFull, storeFileDamaged, storeFileForeign, storeMissing, storeNameEmpty,
            storeNameInvalid, storeTurnLost, storeEmpty, storeDiffers, storeOfOtherVersion, workspaceForeign,
            resultDiffers, argumentNotText, notEncodable,
            segmentListUnwritable, jobUnknownHere, jobHeld, storeHeld, outputExists, outputIsSource, outputIsFolder,
            outputNotAFile, outputUnnamed, outputNotTaken, outputFolderMissing,
            outputUnwritable, outputFull, copyInterrupted, planOfOtherVersion, indexMissing, jobOfOtherVersion,
            scratchTooSmall
        case passExhausted, passLost, passOutOfMemory, noWorkerCan, workerVanished, encoderMissing, boardOfOtherVersion,
            boardUnprepared, boardOfNewerRelease, redisUnreachable, redisRefused, boardLost, boardUnreadable,
            passesVanished, redisAddressInvalid, namespaceInvalid, jobContradictory, jobNotEnded
        case outputTwice, jobUnknown, jobAmbiguous, jobUnended, workersAbsent, jobNotOnBoard, jobForgotten,
            jobCancelled, jobFailed, jobNotFinished, jobEnded, jobNotFailed, jobsNotRecovered, jobGoesOn, jobHeldBack,
            passesWait, probeLost, engineMisanswered, quotaExceeded, sourceOutside, sourceRootUnusable, sourceReplaced,
            interrupted, runStopped, workspaceUnusable, sourceOutOfReach, planDiffers, noResult,
            outputContainerDiffers, outputNotNamed, storeNotNamed, workerUnknown, redisUnusable, programMissing,
            programsNotFound, redisFileUnusable, redisFileOpen, secretFileUnusable, secretFileOpen, tokenFileDamaged,
            tokenNameTaken, secretTooShort, webhooksTooMany, curlNotInstalled, addressUnusable, sandboxIncomplete,
            folderUnwritable, redisNotInstalled, redisSilent, localWorkerEnded, localServerEnded,
            unexpected
    }
}
