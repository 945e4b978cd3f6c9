/// Why something did not work: a stable code with its facts. It is stored, sent and counted in this form; in JSON it is
/// an object whose only key is the code, with the facts under it.
///
/// A code never gets another meaning. Messages of a library or the operating system are facts, which are quoted.
package indirect enum FailureReason: Hashable, Codable, Sendable {
    // MARK: Source
    /// The operating system does not let this host open or read the source; `passes` if it may work soon.
    case sourceUnreadable(path: String, errno: Int32, passes: Bool)
    /// The file is not media, or its index is missing.
    case notMedia(path: String)
    /// The source is a still picture of this codec.
    case sourceIsPicture(path: String, codec: String)
    /// The file has no video.
    case noVideo(path: String)
    case noSound(path: String)
    /// The video is encrypted.
    case encrypted(path: String)
    /// This host's FFmpeg has no decoder for a stream.
    case noDecoder(path: String, stream: Int, codec: String)
    /// A decoder rejects a stream's header.
    case headerDamaged(path: String, stream: Int, codec: String)
    /// No frame of the video decodes; `path` is nil if only an index says so.
    case nothingDecodes(path: String?)
    /// A decoder reports errors without end.
    case decoderStuck(codec: String)
    /// The video has no frames; `path` is nil if only an index says so.
    case noFrames(path: String?)
    /// No random access point lies at the video's first frame.
    case noStart
    /// An index gives sizes that no video has: bytes of a frame, and frames that a decoder keeps to reorder them.
    case impossibleSizes(frameBytes: Int64, reorderDepth: Int)
    /// The file is not the one that was indexed; `number` is the stream or packet that shows it.
    case sourceChanged(path: String, change: SourceChange, number: Int)
    /// A pass decodes something else than its plan was made from, `time` seconds from the file's start. The source must
    /// be decoded as a whole and the job planned anew.
    case planDisproved(path: String, disproof: PlanDisproof, time: Rational)
    /// A pass decodes something else on this host than came out when the whole source was decoded, `time` seconds from
    /// the file's start.
    case decodesOtherwise(path: String, disproof: PlanDisproof, time: Rational)
    /// libswscale cannot convert pictures of this size, in pixels.
    case pictureUnconvertible(width: Int, height: Int)
    /// A frame at `time`, in seconds from the file's start, does not decode correctly, and the job is set to fail then.
    case videoDamaged(path: String, damage: FrameDamage, time: Rational)
    /// The sound is so far from the video, in seconds, that no clock holds both.
    case soundOutOfReach(path: String, distance: Rational)

    // MARK: Request
    /// The start of the range is not before its end.
    case rangeEmpty(from: Position, to: Position)
    /// No frame begins in the range; the video ends at `end`, in seconds from the file's start.
    case nothingInRange(from: Position?, to: Position?, end: Rational)
    /// A range of a video begins or ends at a timecode that none of its frames has, or is to be as long.
    case timecodeInvalid(timecode: String, flaw: TimecodeFlaw)
    /// A track is asked for by its place, and the source has fewer of that kind.
    case trackMissing(kind: TrackSelection.Kind, number: Int, count: Int)
    /// An edit's file says something that cannot be done; `place` is where, as "clips[2].from", empty for all of the file.
    case editFlawed(path: String, place: String, flaw: EditFlaw)
    /// An edit cannot be written as a timeline, because a clip, counted from 0, has another speed than its source's.
    case timelineSpeed(clip: Int, speed: Rational)
    case timelineSoundtrack
    /// No frame begins in the range of a clip, counted from 0; its source's video ends at `end`, in seconds from the file's
    /// start.
    case clipOutOfRange(clip: Int, from: Position?, to: Position?, end: Rational)
    /// In no frame of a clip, counted from 0, its source has both video and sound, with what the crossfades need.
    case clipUnshared(clip: Int)
    /// The soundtrack's sound ends at `end`, before the moment from which it is to be heard; both in seconds from the file's
    /// start.
    case soundtrackOutOfRange(from: Rational, end: Rational)
    /// With a still of an edit, which would become this many frames, all stills together would exceed the most.
    case stillTooLong(clip: Int, frames: Int, most: Int)
    /// A source has another dynamic range than the first: one of them is HDR.
    case dynamicRangesMixed(source: String, main: String)
    /// A source is interlaced, and would have to be scaled or stand beside progressive pictures.
    case interlacedMixed(source: String)
    /// The memory allowed for a pass, or with `copies` for the assembly of a passthrough, is less than the least
    /// needed; in bytes.
    case memoryTooSmall(allowed: Int64, needed: Int64, copies: Bool)
    /// This host's FFmpeg has no encoder of that name; `known` are the ones that reel knows.
    case encoderUnknown(option: JobSpec.Option, name: String, known: [String])
    /// The encoder of a target is missing on this host.
    case encoderAbsent(encoder: String)
    /// The encoder does not open with these settings; quotes its message.
    case encoderRefuses(encoder: String, settings: [MediaOption], said: String)
    /// The encoder has no such option.
    case settingUnknown(encoder: String, setting: String)
    /// The encoder cannot follow an option of the job.
    case optionUnsupported(option: JobSpec.Option, encoder: String)
    /// The encoder cannot follow the value of an option of the job, or with nil FFmpeg does not know it; `known` are values
    /// that it takes.
    case valueUnsupported(option: JobSpec.Option, value: String, encoder: String?, known: [String])
    /// The encoder does not take pictures of this size: chroma of the pixel format is shared by pairs of pixels.
    case sizeIndivisible(encoder: String, size: PictureSize, pixelFormat: String)
    /// The container holds pictures of at most this many pixels in each direction.
    case sizeTooLarge(container: Container, size: PictureSize, most: Int)
    /// The encoder writes its rate into its parameters, so chunks that follow the source's rate do not join.
    case sourceRateUnsupported(encoder: String)
    /// The encoder does not take the pixel format, nor any to which it could be converted.
    case pixelFormatUnsupported(encoder: String, pixelFormat: String)
    /// The encoder holds a pixel format only with losses, and lossless video was requested.
    case pixelFormatLossy(encoder: String, pixelFormat: String)
    /// The container does not hold the codec.
    case codecNotHeld(option: JobSpec.Option, codec: String, container: Container)
    /// The container holds no sound that this host can encode.
    case noSoundHeld(container: Container)
    /// A lossless output has one codec, and another was requested.
    case losslessCodecFixed(option: JobSpec.Option, codec: String, only: String)
    /// The container does not hold lossless video and sound.
    case losslessNotHeld(container: Container)
    /// The container does not give raw pictures back unchanged.
    case rawNotGivenBack(pixelFormat: String, container: Container, lossless: Bool)
    /// Two frames are less than a millisecond apart, the first `time` seconds from the file's start.
    case framesTooClose(time: Rational, container: Container)
    /// The container shows a picture for at most this many seconds. Times are of the output, in seconds.
    case pictureTooLong(time: Rational, length: Rational, container: Container, most: Int)
    /// The container shows all frames equally long, at `rate` frames per second, and one would last otherwise. Times are of
    /// the output, in seconds.
    case framesUneven(time: Rational, length: Rational, rate: Rational, container: Container)
    /// The container cannot have that frame rate, in frames per second.
    case frameRateNotHeld(rate: Rational, container: Container, known: [Rational])
    /// Passthrough cannot follow an option of the job.
    case copyWithOption(option: JobSpec.Option)
    /// The container has nothing for an option to set.
    case optionNotOfContainer(option: JobSpec.Option, container: Container)
    /// The video cannot be passed through.
    case copyImpossible(obstacle: PassthroughObstacle)
    /// The container does not give the source's packets back unchanged.
    case copyNotGivenBack(codec: String, pixelFormat: String, container: Container)

    // MARK: Engine
    /// A call of libav* failed; `subject` is the codec, file or format concerned.
    case mediaFailed(step: MediaStep, subject: String?, said: String)
    /// Memory was refused; `subject` as for `mediaFailed`.
    case outOfMemory(step: MediaStep, subject: String?)
    /// The disk is full; `path` is nil if the file is unknown.
    case diskFull(path: String?)
    /// The muxer rejects the streams to be written.
    case outputRefused(path: String, step: MediaStep, said: String)
    /// A file operation on one of reel's own files failed; `passes` if it may work soon.
    case fileFailed(path: String, step: FileStep, errno: Int32, passes: Bool)
    /// A file of the job cannot be read on this host.
    case jobFileUnreadable(path: String, said: String)
    /// The plan has no part with this number.
    case planLacks(part: PlanPart, number: Int)
    /// The index has a version that this release does not support.
    case indexVersion(version: Int, supported: Int)
    /// The index is damaged; `offset` is the byte at which the flaw was found.
    case indexDamaged(offset: Int, flaw: IndexFlaw)
    /// This host's FFmpeg lacks a codec that the plan needs.
    case codecAbsent(codec: String, role: CodecRole)
    /// This host's encoder makes other parameters than the one with which the job was planned.
    case encoderDiffers(encoder: String)
    /// The encoder gave another number of packets than it got frames.
    case encoderMiscounts(encoder: String, packets: Int, frames: Int)
    /// The encoder gave a packet without a presentation time for this segment.
    case packetWithoutTime(segment: String)
    /// A part of the video without frames was to be encoded.
    case nothingToEncode
    /// A segment is not usable; `pass` is the one that makes it, by its place in the plan, nil if unknown.
    case segmentFlawed(segment: String, pass: Int?, flaw: SegmentFlaw)
    /// The segment's file is missing. Here and below, `pass` is the pass that makes it, by its place in the plan, and
    /// has to be done again.
    case segmentMissing(segment: String, pass: Int)
    /// The segment's file is not the one that was recorded.
    case segmentDiffers(segment: String, pass: Int)
    /// The list of segments for an assembly cannot be read. Only release 0.1 reports this.
    case segmentListUnreadable(path: String, said: String?)
    /// The input of the assembly ends before the plan does.
    case partsEnded(parts: OutputPart)
    /// The output differs from the plan; `stream` is nil if the flaw is outside the streams.
    case verificationFailed(stream: Int?, flaw: VerificationFlaw)
    /// The engine's executable cannot be started; quotes the system.
    case engineUnstartable(executable: String, said: String)
    /// The engine speaks another version of the protocol.
    case engineVersion(version: Int, supported: Int)
    /// An engine was started without a standard output.
    case engineWithoutOutput
    /// A request cannot be written to the engine; quotes the system.
    case requestUnwritable(said: String)
    /// The engine was interrupted during its work.
    case engineInterrupted(place: EnginePlace)
    /// The engine was ended by its caller.
    case engineEnded
    /// The engine was stopped after `seconds` in the state that `hang` names; `lastWords` is the last line on its
    /// standard error.
    case engineHung(place: EnginePlace, hang: EngineHang, seconds: Rational, lastWords: String?)
    /// The engine broke the protocol.
    case engineNonsense(place: EnginePlace, nonsense: EngineNonsense, lastWords: String?)
    /// The engine ended during its work; `lastWords` is the last line on its standard error.
    case engineDied(place: EnginePlace, end: EngineEnd, lastWords: String?)

    // MARK: Store
    /// The operating system does not let the source be opened or read. Here and below, `errno` is its error number.
    case sourceInaccessible(path: String, errno: Int32)
    /// The source is a folder.
    case sourceIsFolder(path: String)
    /// A folder was named in place of the videos in it, and no file in it has a name as videos have.
    case folderWithoutVideos(path: String)
    /// The source has no bytes.
    case sourceEmpty(path: String)
    /// The source is named by a URL.
    case sourceIsURL(url: String)
    /// The source is a pipe or a device, which cannot be read twice.
    case sourceNotAFile(path: String)
    /// The source was written to while it was copied into the store.
    case sourceChangedWhileCopied(path: String)
    /// An operation in the store failed.
    case storeUnusable(doing: StoreStep, path: String, errno: Int32)
    /// The store's disk, or a quota on it, is full.
    case storeFull(doing: StoreStep, path: String, errno: Int32)
    /// A file of the store is not as reel wrote it; `said` is the decoder's error.
    case storeFileDamaged(path: String, said: String)
    /// A link, a pipe, a device or a folder is in place of a file of the store.
    case storeFileForeign(path: String)
    /// The store's folder does not exist, or is not a folder.
    case storeMissing(path: String)
    /// The name given for the store is empty.
    case storeNameEmpty
    /// The store's folder is empty, but the board belongs to the store with this id.
    case storeEmpty(path: String, board: StoreID)
    /// The store's id differs from that of the store to which the board belongs.
    case storeDiffers(path: String, store: StoreID, board: StoreID)
    /// The store has a newer version than this release knows.
    case storeOfOtherVersion(path: String, found: Int, known: Int)
    /// The folder in which `run` works belongs to another user, or others may write to it.
    case workspaceForeign(path: String)
    /// A result, or a copy of it, differs in size or SHA-256 from the verified one.
    case resultDiffers(
        job: JobID, path: String, bytes: Int64, sha256: String, recordedBytes: Int64, recordedSha256: String)
    /// A command's argument is not UTF-8; in `text` its other bytes are escaped.
    case argumentNotText(text: String)
    /// A value cannot be written as JSON.
    case notEncodable(said: String)
    /// The list of segments for an assembly cannot be written. Only release 0.1 reports this.
    case segmentListUnwritable(path: String, errno: Int32)
    /// The store has no such job, as seen from this host.
    case jobUnknownHere(job: JobID, path: String)
    /// Another process is working on the job's folder; nil if it is unknown which.
    case jobHeld(path: String, pid: Int?, host: String?)
    /// The output's path exists.
    case outputExists(path: String)
    /// The output would replace the source.
    case outputIsSource(path: String)
    /// The output's path is a folder.
    case outputIsFolder(path: String)
    /// The output's path is a pipe or a device.
    case outputNotAFile(path: String)
    /// The output's path ends without a file name.
    case outputUnnamed(path: String)
    /// The folder of the output does not exist.
    case outputFolderMissing(path: String, folder: String)
    /// The operating system does not let the output be written.
    case outputUnwritable(path: String, errno: Int32)
    /// Not enough space for the output: bytes that it needs, nil if unknown, and bytes free there.
    case outputFull(path: String, needed: Int64?, free: Int64)
    /// Copying to this path was interrupted.
    case copyInterrupted(path: String)
    /// The plan has a version that this release does not know.
    case planOfOtherVersion(found: Int, known: Int)
    /// The store does not have the index from which a plan was made.
    case indexMissing(hash: String, folder: String)
    /// The job's record has a version that this release does not know.
    case jobOfOtherVersion(found: Int, known: Int)

    // MARK: Board
    /// A pass failed for the last allowed time; -1 is the probe.
    case passExhausted(pass: Int, attempts: Int, last: ReelFailure)
    /// The workers that held a pass vanished, one after the other.
    case passLost(pass: Int, attempts: Int, worker: String)
    /// A pass needs more than the bytes planned for it; `doubled` if it had twice as many.
    case passOutOfMemory(pass: Int, planned: Int64, doubled: Bool, last: ReelFailure)
    /// The job excludes every live worker; `host` and `last` are the host and the reason of the latest one.
    case noWorkerCan(host: String, last: ReelFailure)
    /// The lease of a pass lapsed.
    case workerVanished(worker: String)
    /// A worker does not have the encoder build with which the plan was made.
    case encoderMissing(build: String)
    /// The board's keys have a version that this program does not know.
    case boardOfOtherVersion(found: Int, known: Int)
    /// Redis has no functions of the board (`found` is nil), or those of an older version, and this program may not load
    /// its own.
    case boardUnprepared(found: Int?, known: Int)
    /// Redis has the board's functions in a version that a newer release has brought, and that does not serve this one.
    case boardOfNewerRelease(found: Int, known: Int)
    /// Redis cannot be reached, or did not answer in time; quotes the system; `passes` if it may work soon.
    case redisUnreachable(address: String, said: String, passes: Bool)
    /// Redis answered with an error, which is quoted; `passes` if it may work soon.
    case redisRefused(address: String, said: String, passes: Bool)
    /// Redis restarted without jobs that it had: its log was applied in part, or is gone.
    case boardLost(jobs: [JobID])
    /// The board holds, or Redis answered, something that this version cannot read.
    case boardUnreadable(said: String)
    /// Redis lost passes of a plan while they were published.
    case passesVanished(job: JobID)
    /// The address of a Redis server cannot be used. It is given without its password; nil if it is not a URL.
    case redisAddressInvalid(address: String?, fault: RedisAddressFault)
    /// The name cannot be a part of a board's keys. `name` has 64 characters at most.
    case namespaceInvalid(name: String)
    /// A job to be put on the board contradicts itself.
    case jobContradictory(job: JobID, fault: JobFault)
    /// The request needs an ended job.
    case jobNotEnded(job: JobID, state: JobState)

    // MARK: Jobs
    /// Another video of the same command has the same output.
    case outputTwice(path: String, source: String)
    /// There is no such job.
    case jobUnknown(job: JobID)
    /// The ids of several jobs begin so. `matches` has five of them at most.
    case jobAmbiguous(name: String, matches: [JobID])
    /// The job had not ended after that time.
    case jobUnended(job: JobID, seconds: Int64)
    /// Of the workers that the board knows none claims passes.
    case workersAbsent(known: Int)
    /// The board has lost the job.
    case jobNotOnBoard(job: JobID)
    /// The board has forgotten the job.
    case jobForgotten(job: JobID)
    /// The job was cancelled.
    case jobCancelled(job: JobID)
    /// The job failed.
    case jobFailed(job: JobID)
    /// The request needs a finished job.
    case jobNotFinished(job: JobID, state: JobState)
    /// The request needs a job that has not ended.
    case jobEnded(job: JobID, state: JobState)
    /// The request needs a failed job.
    case jobNotFailed(job: JobID, state: JobState?)
    /// These jobs could not be recovered.
    case jobsNotRecovered(jobs: [JobID])
    /// The command was interrupted; the job continues without it.
    case jobGoesOn(job: JobID)
    /// A user paused the job, so its assembly is handed back.
    case jobHeldBack(job: JobID)
    /// Passes of the job wait for a slot.
    case passesWait(job: JobID)
    /// Another process probes the job by now.
    case probeLost(job: JobID)
    /// An engine's result does not belong to this task, which it was asked to do.
    case engineMisanswered(task: EngineTask)
    /// The source's path leads to another file than when the job was submitted.
    case sourceReplaced(path: String)
    /// The user interrupted the command.
    case interrupted
    /// `run` stopped for this reason; the same command continues the job.
    case runStopped(last: ReelFailure)
    /// The folder in which `run` works cannot be used for this reason.
    case workspaceUnusable(last: ReelFailure)
    /// The job asks for more than this host allows; `asked` is nil if only the limit is known.
    case quotaExceeded(quota: Quotas.Quota, asked: Int64?, most: Int64)
    /// The source lies outside the folders from which this host takes sources.
    case sourceOutside(path: String)
    /// A folder from which sources are to be taken cannot be one, for this error of the system.
    case sourceRootUnusable(path: String, errno: Int32)
    /// This host cannot use the source for this reason.
    case sourceOutOfReach(last: ReelFailure)
    /// The store's plan of this number, `plan`, differs from the board's.
    case planDiffers(job: JobID, plan: Int, store: String)
    /// The job has no result.
    case noResult(job: JobID, state: JobState?)
    /// The output's extension does not name the job's container.
    case outputContainerDiffers(job: JobID, container: Container, output: String)
    /// The output's extension does not name a container that reel writes.
    case outputNotNamed(output: String)
    /// No store was named.
    case storeNotNamed
    /// There is no worker and no host of this name.
    case workerUnknown(name: String)
    /// Redis cannot be used for this reason.
    case redisUnusable(last: ReelFailure)
    /// One of reel's programs is missing in this folder.
    case programMissing(name: String, folder: String)
    /// The folder of reel's programs is unknown, since /proc/self/exe cannot be read.
    case programsNotFound
    /// The file with the address of Redis cannot be read.
    case redisFileUnusable(path: String, errno: Int32)
    /// Other users can read the file with the address of Redis.
    case redisFileOpen(path: String)
    /// A file that is to keep a secret cannot be read or written.
    case secretFileUnusable(path: String, errno: Int32)
    /// All users can read a file that keeps a secret, or its group can change it.
    case secretFileOpen(path: String)
    /// A line of the file of tokens does not have the form that reel writes.
    case tokenFileDamaged(path: String, line: Int)
    /// The file of tokens has one of that name.
    case tokenNameTaken(name: String, path: String)
    /// A secret that signs what a server sends has fewer bytes than that.
    case secretTooShort(path: String, least: Int)
    /// The job has as many webhooks as a job can have.
    case webhooksTooMany(job: JobID, most: Int)
    /// There is no curl, which sends webhooks.
    case curlNotInstalled
    /// The program cannot listen at an address; quotes the system.
    case addressUnusable(address: String, said: String)
    /// The kernel cannot confine an engine as it must be.
    case sandboxIncomplete(missing: [SandboxPart])
    /// The folder cannot be written to.
    case folderUnwritable(path: String, errno: Int32?)
    case redisNotInstalled
    /// The private Redis server does not answer; quotes its output.
    case redisSilent(said: String)
    /// The private worker ended; quotes its output.
    case localWorkerEnded(said: String)
    case unexpected(said: String)
}
