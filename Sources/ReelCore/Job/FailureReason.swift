/// Why something did not work: a stable code and its facts. It is stored, sent and counted as that, in JSON as an object
/// with the code for its only key and the facts under it.
///
/// A code is never given another meaning. What other programs said of it (a library, the operating system) is a fact
/// that is quoted.
public indirect enum FailureReason: Hashable, Codable, Sendable {
    // MARK: Source
    /// The operating system does not let this host open or read the source; `passes` where that may go well soon.
    case sourceUnreadable(path: String, errno: Int32, passes: Bool)
    /// The file is not media, or its index is missing.
    case notMedia(path: String)
    case noVideo(path: String)
    case encrypted(path: String)
    /// This host's FFmpeg has no decoder for a stream.
    case noDecoder(path: String, stream: Int, codec: String)
    /// A decoder does not take a stream's header.
    case headerDamaged(path: String, stream: Int, codec: String)
    /// No frame of the video decodes; no path where an index alone says so.
    case nothingDecodes(path: String?)
    /// A decoder reports errors without end.
    case decoderStuck(codec: String)
    case noFrames(path: String?)
    /// No random access point lies at the video's first frame.
    case noStart
    /// An index gives sizes that no video has: bytes of a frame, and frames that a decoder holds back.
    case impossibleSizes(frameBytes: Int64, reorderDepth: Int)
    /// The file is another than the one that was indexed; `number` is of the stream or packet that tells.
    case sourceChanged(path: String, change: SourceChange, number: Int)
    /// What a pass decodes is not what its plan was made of, `time` seconds from the file's start: the source is to be
    /// decoded as a whole, and planned anew.
    case planDisproved(path: String, disproof: PlanDisproof, time: Rational)
    /// What a pass decodes on this host is not what came out when the whole source was decoded, `time` seconds from the
    /// file's start.
    case decodesOtherwise(path: String, disproof: PlanDisproof, time: Rational)
    case pictureUnconvertible(width: Int, height: Int)
    /// A frame at `time`, in seconds from the file's start, does not decode as it should, and the job is to fail then.
    case videoDamaged(path: String, damage: FrameDamage, time: Rational)
    /// Sound lies so many seconds from the video that no clock shows both.
    case soundOutOfReach(path: String, distance: Rational)

    // MARK: Request
    /// The start of the range, in seconds, is not before its end.
    case rangeEmpty(from: Rational, to: Rational)
    /// No frame begins in the range; the video ends at `end`. All in seconds from the file's start.
    case nothingInRange(from: Rational?, to: Rational?, end: Rational)
    /// Bytes allowed for a pass, or for the assembly where packets are copied, and the least it needs.
    case memoryTooSmall(allowed: Int64, needed: Int64, copies: Bool)
    /// This host's FFmpeg has no encoder of that name; `known` are those that reel knows.
    case encoderUnknown(option: JobSpec.Option, name: String, known: [String])
    /// The encoder of a target is missing on this host.
    case encoderAbsent(encoder: String)
    /// The encoder does not open with these settings.
    case encoderRefuses(encoder: String, settings: [Tag], said: String)
    /// The encoder knows no such setting of its own.
    case settingUnknown(encoder: String, setting: String)
    /// The encoder has nothing that follows an option of the job.
    case optionUnsupported(option: JobSpec.Option, encoder: String)
    /// An encoder writes its rate into its parameters: parts that follow the source's rate do not join.
    case sourceRateUnsupported(encoder: String)
    case pixelFormatUnsupported(encoder: String, pixelFormat: String)
    /// The encoder holds a pixel format only with losses, and none are allowed.
    case pixelFormatLossy(encoder: String, pixelFormat: String)
    case codecNotHeld(option: JobSpec.Option, codec: String, container: Container)
    case noSoundHeld(container: Container)
    /// What is lossless has one codec, and another was asked for.
    case losslessCodecFixed(option: JobSpec.Option, codec: String, only: String)
    case losslessNotHeld(container: Container)
    /// The container does not give raw pictures back as they were.
    case rawNotGivenBack(pixelFormat: String, container: Container, lossless: Bool)
    /// Two frames are less than a millisecond apart, the first `time` seconds from the file's start.
    case framesTooClose(time: Rational, container: Container)
    /// Copied packets cannot follow an option.
    case copyWithOption(option: JobSpec.Option)
    case copyImpossible(obstacle: PassthroughObstacle)
    case copyNotGivenBack(codec: String, pixelFormat: String, container: Container)

    // MARK: Engine
    /// A call of libav* failed; `subject` is the codec, file or format that it was about.
    case mediaFailed(step: MediaStep, subject: String?, said: String)
    case outOfMemory(step: MediaStep, subject: String?)
    case diskFull(path: String?)
    /// A container does not take the streams that are to be written.
    case outputRefused(path: String, step: MediaStep, said: String)
    /// The operating system refuses something at a file of reel's own; `passes` where that may go well soon.
    case fileFailed(path: String, step: FileStep, errno: Int32, passes: Bool)
    /// A file of the job cannot be read on this host.
    case jobFileUnreadable(path: String, said: String)
    case planLacks(part: PlanPart, number: Int)
    case indexVersion(version: Int, supported: Int)
    /// `offset` is the byte of the index at which the flaw was found.
    case indexDamaged(offset: Int, flaw: IndexFlaw)
    /// This host's FFmpeg lacks a codec that the plan needs.
    case codecAbsent(codec: String, role: CodecRole)
    /// This host's encoder makes other parameters than the one the job was planned with.
    case encoderDiffers(encoder: String)
    case encoderMiscounts(encoder: String, packets: Int, frames: Int)
    case packetWithoutTime(segment: String)
    /// A part of the video without frames was to be encoded.
    case nothingToEncode
    case segmentFlawed(segment: String, pass: Int?, flaw: SegmentFlaw)
    /// There is no such segment. Here and below, `pass` is the one that makes it, by its place in the plan: it has to be
    /// done again.
    case segmentMissing(segment: String, pass: Int)
    /// A segment's file is not the one that was recorded.
    case segmentDiffers(segment: String, pass: Int)
    case segmentListUnreadable(path: String, said: String?)
    /// What the assembly joins ends before the plan does.
    case partsEnded(parts: OutputPart)
    /// The output is not what the plan says; no stream for what lies beside the streams.
    case verificationFailed(stream: Int?, flaw: VerificationFlaw)
    case engineUnstartable(executable: String, said: String)
    case engineVersion(version: Int, supported: Int)
    /// An engine was started without a standard output.
    case engineWithoutOutput
    case requestUnwritable(said: String)
    case engineInterrupted(place: EnginePlace)
    case engineEnded
    /// `seconds` without what `hang` names; `lastWords` is the last line on its standard error.
    case engineHung(place: EnginePlace, hang: EngineHang, seconds: Rational, lastWords: String?)
    /// The engine broke the protocol.
    case engineNonsense(place: EnginePlace, nonsense: EngineNonsense, lastWords: String?)
    case engineDied(place: EnginePlace, end: EngineEnd, lastWords: String?)

    // MARK: Store
    /// The operating system does not let the source be opened or read. `errno` is its number for why, here and below.
    case sourceInaccessible(path: String, errno: Int32)
    case sourceIsFolder(path: String)
    /// A pipe or a device: it cannot be read more than once.
    case sourceNotAFile(path: String)
    /// The source was written to while it was copied into the store.
    case sourceChangedWhileCopied(path: String)
    /// The operating system refuses what is to be done in the store.
    case storeUnusable(doing: StoreStep, path: String, errno: Int32)
    /// The store's disk, or a quota on it, is full.
    case storeFull(doing: StoreStep, path: String, errno: Int32)
    /// A file of the store is not what reel wrote; `said` is what its decoder found.
    case storeFileDamaged(path: String, said: String)
    /// A link, a pipe, a device or a folder is where the store should have a file.
    case storeFileForeign(path: String)
    /// A folder that was to be the store is missing, or is none.
    case storeMissing(path: String)
    /// The name given for the store is empty.
    case storeNameEmpty
    /// The store's folder is empty, and the board belongs to the store of that id.
    case storeEmpty(path: String, board: StoreID)
    /// The store has another id than the one that the board belongs to.
    case storeDiffers(path: String, store: StoreID, board: StoreID)
    case storeOfOtherVersion(path: String, found: Int, known: Int)
    /// The folder in which a run works is not its user's alone.
    case workspaceForeign(path: String)
    /// A result, or a copy of it, has another size or SHA-256 than the verified one.
    case resultDiffers(
        job: JobID, path: String, bytes: Int64, sha256: String, recordedBytes: Int64, recordedSha256: String)
    /// An earlier release finished the job, and recorded nothing of its result.
    case resultUnrecorded(job: JobID)
    /// An argument of a command is not UTF-8; `text` has its other bytes escaped.
    case argumentNotText(text: String)
    /// A value cannot be written as JSON.
    case notEncodable(said: String)
    /// The list of an assembly's segments cannot be written.
    case segmentListUnwritable(path: String, errno: Int32)
    /// This host sees no such job in the store.
    case jobUnknownHere(job: JobID, path: String)
    /// Another process works on the job's folder; nil where it does not say which.
    case jobHeld(path: String, pid: Int?, host: String?)
    case outputExists(path: String)
    /// The output would replace the source.
    case outputIsSource(path: String)
    case outputIsFolder(path: String)
    /// A pipe or a device is where the output is to go.
    case outputNotAFile(path: String)
    /// The path of the output ends in no name.
    case outputUnnamed(path: String)
    case outputFolderMissing(path: String, folder: String)
    /// The operating system does not let the output be written.
    case outputUnwritable(path: String, errno: Int32)
    /// Bytes that the output takes, if they are known, and that are free where it is to go.
    case outputFull(path: String, needed: Int64?, free: Int64)
    /// Copying to this path was stopped.
    case copyInterrupted(path: String)
    /// A plan has a version that this release does not know.
    case planOfOtherVersion(found: Int, known: Int)
    /// The store has not the index that a plan was made from.
    case indexMissing(hash: String, folder: String)
    /// A job's record has a version that this release does not know.
    case jobOfOtherVersion(found: Int, known: Int)
    /// Why a job failed, as an earlier release kept it: a sentence.
    case failedBefore(kind: ReelFailure.Kind, message: String)

    // MARK: Board
    /// Attempts at a pass ran out; -1 is the probe.
    case passExhausted(pass: Int, attempts: Int, last: ReelFailure)
    /// The workers that held a pass vanished, one after the other.
    case passLost(pass: Int, attempts: Int, worker: String)
    /// A pass needs more than the bytes planned for it; `doubled` where it had twice as many.
    case passOutOfMemory(pass: Int, planned: Int64, doubled: Bool, last: ReelFailure)
    /// Every live worker's host is excluded from the job; the last one for this reason.
    case noWorkerCan(host: String, last: ReelFailure)
    /// The lease of a pass lapsed.
    case workerVanished(worker: String)
    /// A worker has not the build of an encoder that the plan was made with.
    case encoderMissing(build: String)
    /// The board's keys are of another version than this program knows.
    case boardOfOtherVersion(found: Int, known: Int)
    /// Redis has no functions of the board (`found` is nil), or those of an older version, and this program may not load
    /// its own.
    case boardUnprepared(found: Int?, known: Int)
    /// Redis has the board's functions in a version that a newer release has brought, and that does not serve this one.
    case boardOfNewerRelease(found: Int, known: Int)
    /// Redis cannot be reached, or did not answer in time; quotes the system.
    case redisUnreachable(address: String, said: String, passes: Bool)
    /// Redis answered with an error; quotes it.
    case redisRefused(address: String, said: String, passes: Bool)
    /// Redis started without jobs that it had: not all of its log was applied, or all of it is gone.
    case boardLost(jobs: [JobID])
    /// The board holds, or Redis answered, something that this version cannot read.
    case boardUnreadable(said: String)
    /// Redis lost passes of a plan while they were put up.
    case passesVanished(job: JobID)
    /// An address of a Redis cannot be used; without its password, nil where it is no URL.
    case redisAddressInvalid(address: String?, fault: RedisAddressFault)
    /// A job contradicts itself that was to be put on the board.
    case jobContradictory(job: JobID, fault: JobFault)
    /// What was asked for needs an ended job.
    case jobNotEnded(job: JobID, state: JobState)

    // MARK: Jobs
    case jobUnknown(job: JobID)
    case jobNotOnBoard(job: JobID)
    case jobForgotten(job: JobID)
    case jobCancelled(job: JobID)
    case jobFailed(job: JobID)
    case jobNotFinished(job: JobID, state: JobState)
    case jobEnded(job: JobID, state: JobState)
    case jobNotFailed(job: JobID, state: JobState?)
    case jobsNotRecovered(jobs: [JobID])
    case jobGoesOn(job: JobID)
    case jobHeldBack(job: JobID)
    case passesWait(job: JobID)
    case probeLost(job: JobID)
    /// An engine answered another request than it was asked.
    case engineMisanswered(task: EngineTask)
    /// Another file is at the source's path than when the job was submitted.
    case sourceReplaced(path: String)
    case interrupted
    case runStopped(last: ReelFailure)
    case workspaceUnusable(last: ReelFailure)
    case sourceOutOfReach(last: ReelFailure)
    case planDiffers(job: JobID, plan: Int, store: String)
    case noResult(job: JobID, state: JobState?)
    case outputContainerDiffers(job: JobID, container: Container, output: String)
    case outputNotNamed(output: String)
    case storeNotNamed
    case workerUnknown(name: String)
    case redisUnusable(last: ReelFailure)
    case programMissing(name: String, folder: String)
    case programsNotFound
    case folderUnwritable(path: String, errno: Int32?)
    case redisNotInstalled
    case redisSilent(said: String)
    case localWorkerEnded(said: String)
    case unexpected(said: String)
}
