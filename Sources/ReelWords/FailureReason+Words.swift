public import ReelCore

extension ReelFailure {
    /// What went wrong, and where: one line, without its full stop.
    public var words: String { reason.words }
}

extension FailureReason {
    /// What went wrong, and where: one line, without its full stop. It names no option and no program: the caller adds
    /// those.
    public var words: String {
        switch self {
        // MARK: Source
        case .sourceUnreadable(let path, let errno, _): "\(path): cannot be read: \(SystemWords.text(errno))"
        case .notMedia(let path):
            "\(path): cannot be read as video: it is not media, or its index is missing (an interrupted recording?)"
        case .sourceIsPicture(let path, let codec): "\(path): is a picture (\(codec)), not a video"
        case .noVideo(let path): "\(path): has no video"
        case .noSound(let path): "\(path): has no sound that can be decoded"
        case .encrypted(let path): "\(path): the video is encrypted; reel needs it in the clear"
        case .noDecoder(let path, let stream, let codec):
            "\(path): stream \(stream) (\(codec)): this FFmpeg has no decoder for it; a newer FFmpeg may"
        case .headerDamaged(let path, let stream, let codec):
            "\(path): the \(codec) decoder rejects stream \(stream); its header is damaged"
        case .nothingDecodes(let path):
            "\(prefix(path))nothing of the video decodes; it is damaged or mislabelled"
        case .decoderStuck(let codec): "the \(codec) decoder reports errors without end"
        case .noFrames(let path): "\(prefix(path))the video has no frames"
        case .noStart: "the video cannot be decoded: its first frame is not a random access point"
        case .impossibleSizes(let frameBytes, let reorderDepth):
            "the source states impossible sizes: frames of \(frameBytes) bytes, of which a decoder holds back \(reorderDepth)"
        case .sourceChanged(let path, let change, let number):
            "\(path): changed since it was indexed (\(change.words(number))); submit it again"
        case .planDisproved(let path, let disproof, let time):
            "\(path): \(disproof.words) at \(Wording.seconds(time)): its tables and headers do not match what is shown; "
                + "all of it is decoded to plan it anew"
        case .decodesOtherwise(let path, let disproof, let time):
            "\(path): \(disproof.words) at \(Wording.seconds(time)); the result was another when the whole file was "
                + "decoded: this host's FFmpeg decodes it differently"
        case .pictureUnconvertible(let width, let height): "a picture of \(width)x\(height) cannot be converted"
        case .videoDamaged(let path, let damage, let time):
            "\(path): the video \(damage.words) at \(Wording.seconds(time)); "
                + "allow damaged frames to be repeated, or get an undamaged copy"
        case .soundOutOfReach(let path, let distance):
            "\(path): the sound lies \(Wording.seconds(distance)) from the video, too far for timestamps; leave the sound out"

        // MARK: Request
        case .rangeEmpty(let from, let to):
            "the range's start, \(from.words), is not before its end, \(to.words)"
        case .nothingInRange(let from, let to, let end):
            "no frame begins in the range\(from.map { " from \($0.words)" } ?? "")"
                + "\(to.map { " to \($0.words)" } ?? ""): the video ends at \(Wording.seconds(end))"
                + Wording.counting(from, to)
        case .timecodeInvalid(let timecode, let flaw): "no frame has the timecode \(timecode): \(flaw.words)"
        case .trackMissing(let kind, let number, let count):
            "there is no track \(kind == .audio ? "a" : "s"):\(number): the video has "
                + (count == 0 ? "no " : "\(count) ") + (kind == .audio ? "audio" : "subtitle")
                + " track\(count == 1 ? "" : "s")\(count > 0 ? ", counted from 0" : "")"
        case .editFlawed(let path, let place, let flaw):
            place.isEmpty ? "\(path): \(flaw.words)" : "\(path): \(place): \(flaw.words)"
        case .timelineSoundtrack: "an edit with a soundtrack cannot be written as a timeline"
        case .timelineSpeed(let clip, let speed):
            "clips[\(clip)]: its speed is \(speed.shortWords), for which timelines have no word that all programs "
                + "understand alike; keep such an edit in a .json file"
        case .clipOutOfRange(let clip, let from, let to, let end):
            "clips[\(clip)]: no frame begins in the range\(from.map { " from \($0.words)" } ?? "")"
                + "\(to.map { " to \($0.words)" } ?? ""): the video ends at \(Wording.seconds(end))"
                + Wording.counting(from, to)
        case .clipUnshared(let clip):
            "clips[\(clip)]: in none of its frames does the source have both video and sound, with what the crossfades "
                + "need; leave out the trim, or choose another range"
        case .soundtrackOutOfRange(let from, let end):
            "the soundtrack has no sound from \(Wording.seconds(from)) on: it ends at \(Wording.seconds(end)); begin earlier"
        case .stillTooLong(let clip, let frames, let most):
            "clips[\(clip)]: shown at a constant rate, this still becomes \(frames) frames; all stills of an edit "
                + "together may become at most \(most): shorten it, or choose a lower rate"
        case .dynamicRangesMixed(let source, let main):
            "\(source) and \(main) have different dynamic ranges, HDR and others: convert one of them first"
        case .interlacedMixed(let source):
            "\(source) is interlaced, and cannot be scaled or mixed with other pictures: deinterlace it first"
        case .memoryTooSmall(let allowed, let needed, let copies):
            "\(Wording.mebibytes(allowed)) of memory is too little: "
                + (copies ? "copying this video takes" : "a pass of this video takes")
                + " \(Wording.mebibytes(needed)) at least; allow that much"
                + (copies ? "" : ", or choose a faster preset, another codec or another container")
        case .encoderUnknown(let option, let name, let known):
            "this FFmpeg has no \(option == .audioCodec ? "audio" : "video") encoder \(name); "
                + "reel knows \(known.joined(separator: ", "))"
        case .encoderAbsent(let encoder): "this FFmpeg has no encoder named \(encoder)"
        case .encoderRefuses(let encoder, let settings, let said):
            settings.isEmpty
                ? "the encoder \(encoder) does not take this: \(said); choose another encoder"
                : "the encoder \(encoder) rejects these settings "
                    + "(\(settings.map { "\($0.name)=\($0.value)" }.joined(separator: " "))): \(said)"
        case .settingUnknown(let encoder, let setting): "the encoder \(encoder) has no option named \(setting)"
        case .optionUnsupported(let option, let encoder):
            "the encoder \(encoder) has no \(option.words)\(option == .crf ? "; give a bit rate" : "")"
        case .valueUnsupported(let option, let value, let encoder, let known):
            (encoder.map { "the encoder \($0) does not take" } ?? "this FFmpeg does not know")
                + " the \(option.words) \(value)"
                + (known.isEmpty ? "" : "; it takes \(known.joined(separator: ", "))")
        case .sizeIndivisible(let encoder, let size, let pixelFormat):
            "the encoder \(encoder) takes no pictures of \(size.width)x\(size.height) in \(pixelFormat), in which pairs of "
                + "pixels share their colour: choose an even width and height, or a pixel format such as yuv444p"
        case .sizeTooLarge(let container, let size, let most):
            "\(container.file) holds pictures of at most \(most) pixels in each direction, not \(size.width)x\(size.height): "
                + "choose a smaller size"
        case .sourceRateUnsupported(let encoder):
            "\(encoder) writes the bit rate into its parameters, so that parts which follow the source's rate "
                + "do not join; give a bit rate"
        case .pixelFormatUnsupported(let encoder, let pixelFormat):
            "\(encoder) supports no pixel format close to \(pixelFormat)"
        case .pixelFormatLossy(let encoder, let pixelFormat):
            "\(encoder) cannot hold the pixel format \(pixelFormat) without loss"
        case .codecNotHeld(_, let codec, let container):
            "reel writes no \(codec) into \(container.file); choose another codec or container"
        case .noSoundHeld(let container):
            "\(container.file) holds no sound that reel writes; leave the sound out, or choose another container"
        case .losslessCodecFixed(let option, let codec, let only):
            "without loss, \(option == .audioCodec ? "sound" : "video") is kept as \(only); do not ask for \(codec)"
        case .losslessNotHeld(let container):
            "\(container.file) cannot hold video and sound without loss; write \(Container.names(Container.lossless))"
        case .rawNotGivenBack(let pixelFormat, let container, let lossless):
            (lossless ? "FFV1 does not hold \(pixelFormat), and " : "")
                + "\(container.file) does not store raw \(pixelFormat) exactly; choose another "
                + (lossless ? "container, or allow loss" : "codec or container")
        case .framesTooClose(let time, let container):
            "two frames are less than a millisecond apart at \(Wording.seconds(time)): "
                + "\(container.file) cannot hold that; write .mp4, .mov or .nut"
        case .pictureTooLong(let time, let length, let container, let most):
            "the picture at \(Wording.seconds(time)) of the output is shown for \(Wording.seconds(length)), and "
                + "\(container.file) shows one for at most \(most) s: shorten it, or choose another container"
        case .framesUneven(let time, let length, let rate, let container):
            "\(container.file) shows every frame equally long, here for \(Wording.seconds(Rational(1) / rate)), and the one "
                + "at \(Wording.seconds(time)) of the output would be shown for \(Wording.seconds(length)): choose another "
                + "container"
        case .frameRateNotHeld(let rate, let container, let known):
            "\(container.file) cannot have \(Wording.rate(rate)) frames a second, only "
                + known.map(Wording.rate).joined(separator: ", ") + ": choose another container"
        case .copyWithOption(let option):
            "copied packets keep the pictures as they are and have no passes; do not ask for \(option.words)"
        case .optionNotOfContainer(let option, let container):
            "\(container.file) has no \(option.words)"
                + (option.isOfPalette
                    ? "; write \(Container.names(Container.looping.filter(\.hasPalette)))"
                    : container.traits.loops == nil ? "; write \(Container.names(Container.looping))" : "")
        case .copyImpossible(let obstacle):
            "the video's packets cannot be copied: \(obstacle.words); encode it again instead"
        case .copyNotGivenBack(let codec, let pixelFormat, let container):
            "\(container.file) does not store \(codec) (\(pixelFormat)) exactly; "
                + "choose another container, or encode the video again"

        // MARK: Engine
        case .mediaFailed(let step, let subject, let said): "\(step.words(subject)): \(said)"
        case .outOfMemory(let step, let subject): "\(step.words(subject)): out of memory; give the pass more"
        case .diskFull(let path): "\(prefix(path))no space left on the disk"
        case .outputRefused(let path, let step, let said): "\(step.words(path)): \(said)"
        case .fileFailed(let path, let step, let errno, _): "\(step.words) \(path): \(SystemWords.text(errno))"
        case .jobFileUnreadable(let path, let said): "reading \(path): \(said)"
        case .planLacks(let part, let number): "the plan has no \(part.words) \(number)"
        case .indexVersion(let version, let supported):
            "the index has version \(version); this reel reads \(supported)"
        case .indexDamaged(_, .start): "this is not an index of reel: it does not begin with REELIDX"
        case .indexDamaged(let offset, let flaw):
            "the job's index is damaged near byte \(offset): \(flaw.words); submit the job anew"
        case .codecAbsent(let codec, .codec): "this FFmpeg knows no codec named \(codec)"
        case .codecAbsent(let codec, let role): "this FFmpeg has no \(role.rawValue) for \(codec)"
        case .encoderDiffers(let encoder):
            "this host's \(encoder) makes other parameters than the one the job was planned with"
        case .encoderMiscounts(let encoder, let packets, let frames):
            "\(encoder) made \(packets) packets of \(frames) frames"
        case .packetWithoutTime(let segment):
            "segment \(segment): the encoder gave a packet without a presentation time"
        case .nothingToEncode: "a part of the video has no frames"
        case .segmentFlawed(let segment, _, let flaw): "segment \(segment) \(flaw.words)"
        case .segmentMissing(let segment, let pass): "the segment \(segment) of pass \(pass) is missing"
        case .segmentDiffers(let segment, let pass):
            "the segment \(segment) of pass \(pass) is not the file that was recorded"
        case .segmentListUnreadable(let path, let said):
            "the list of segments, \(path), cannot be read\(said.map { ": \($0)" } ?? "")"
        case .partsEnded(let parts): "the \(parts.words) end before the plan does"
        case .verificationFailed(let stream, let flaw):
            "the output failed its verification: \(stream.map { "stream \($0)" } ?? "it") \(flaw.words)"
        case .engineUnstartable(let executable, let said): "cannot start the engine \(executable): \(said)"
        case .engineVersion(let version, let supported):
            "the engine speaks version \(version) of the protocol, this program \(supported): "
                + "install both from one release"
        case .engineWithoutOutput: "the engine has no standard output to write events to"
        case .requestUnwritable(let said): "cannot write a request to the engine as JSON: \(said)"
        case .engineInterrupted(let place): "interrupted \(place.words)"
        case .engineEnded: "the engine was ended"
        case .engineHung(let place, let hang, let seconds, let lastWords):
            "engine hung \(place.words): \(hang.words) for \(Wording.seconds(seconds))\(quoting(lastWords))"
        case .engineNonsense(let place, let nonsense, let lastWords):
            "engine \(nonsense.words), \(place.words)\(quoting(lastWords))"
        case .engineDied(let place, let end, let lastWords):
            "engine \(end.words) \(place.words)\(quoting(lastWords))"

        // MARK: Store
        case .sourceInaccessible(let path, let errno): "cannot read \(path): \(SystemWords.text(errno))"
        case .sourceEmpty(let path): "\(path): is empty"
        case .sourceIsURL(let url): "\(url): URLs are not read; download it first, and name the file"
        case .sourceIsFolder(let path): "\(path) is a folder; name a video file in it"
        case .folderWithoutVideos(let path):
            "\(path) is a folder, and no file in it has a video's name; folders in it are not searched"
        case .sourceNotAFile(let path): "\(path) is not a regular file, and the source is read more than once"
        case .sourceChangedWhileCopied(let path):
            "\(path) changed while it was copied into the store; submit it again"
        case .storeUnusable(let doing, let path, let errno), .storeFull(let doing, let path, let errno):
            "cannot \(doing.words) \(path): \(SystemWords.text(errno))"
        case .storeFileDamaged(let path, let said): "\(path) is not what reel wrote: \(said)"
        case .storeFileForeign(let path):
            "\(path) is a link, a pipe, a device or a folder, and reel reads only regular files there"
        case .storeMissing(let path): "there is no store at \(path)"
        case .storeNameEmpty: "the name of the store is empty"
        case .storeEmpty(let path, let board):
            "\(path) is empty, and the board in Redis belongs to store \(board): check that the store is mounted there"
        case .storeDiffers(let path, let store, let board):
            "\(path) is store \(store), and the board in Redis belongs to store \(board): use one store everywhere"
        case .storeOfOtherVersion(let path, let found, let known):
            "the store at \(path) has version \(found), and this release knows no version after \(known)"
        case .workspaceForeign(let path):
            "\(path) belongs to another user, or other users may write in it, so reel keeps no files there"
        case .resultDiffers(let job, let path, let bytes, let sha256, let recordedBytes, let recordedSha256):
            bytes == recordedBytes
                ? "\(path) is not the verified result of job \(job): its SHA-256 is \(sha256), not \(recordedSha256)"
                : "\(path) is not the verified result of job \(job): it has \(bytes) bytes, not \(recordedBytes)"
        case .argumentNotText(let text):
            "\(text) is not UTF-8, and reel accepts only UTF-8; rename the file or make a link to it"
        case .notEncodable(let said): "a value cannot be written as JSON: \(said)"
        case .segmentListUnwritable(let path, let errno): "cannot write \(path): \(SystemWords.text(errno))"
        case .jobUnknownHere(let job, let path): "the store has no job \(job): there is no \(path)"
        case .jobHeld(let path, let pid, let host):
            "another run of this job is under way: \(SystemWords.process(pid, host)) holds \(path); wait for it"
        case .outputExists(let path): "\(path) exists already"
        case .outputIsSource(let path): "\(path) is the source itself"
        case .outputIsFolder(let path): "\(path) is a folder; name a file in it"
        case .outputNotAFile(let path): "\(path) is not a regular file"
        case .outputUnnamed(let path): "\(path) names no file"
        case .outputFolderMissing(let path, let folder):
            "cannot write \(path): there is no folder \(folder); make it first"
        case .outputUnwritable(let path, let errno): "cannot write \(path): \(SystemWords.text(errno))"
        case .outputFull(let path, let needed, let free):
            "no room for \(path):" + (needed.map { " it takes \($0) bytes," } ?? "") + " \(free) bytes are free"
        case .copyInterrupted(let path): "interrupted while writing \(path)"
        case .planOfOtherVersion(let found, let known):
            "the plan has version \(found), and this release knows version \(known): use one release everywhere"
        case .indexMissing(let hash, let folder): "there is no index \(hash) in \(folder)"
        case .jobOfOtherVersion(let found, let known):
            "the job's record has version \(found), and this release knows no version after \(known)"

        // MARK: Board
        case .passExhausted(let pass, let attempts, let last):
            "\(PassNumber(pass)) failed \(attempts) times: \(last.words)"
        case .passLost(let pass, let attempts, let worker):
            "\(PassNumber(pass)) was lost \(attempts) times: worker \(worker) vanished like those before it"
        case .passOutOfMemory(let pass, let planned, let doubled, let last):
            "\(PassNumber(pass)) needs more memory than the \(planned) bytes planned for it"
                + (doubled ? ", and than twice that: " : ", and no worker has twice that: ") + last.words
        case .noWorkerCan(let host, let last): "no worker can take this job: \(host): \(last.words)"
        case .workerVanished(let worker): "worker \(worker) vanished"
        case .encoderMissing(let build): "the worker has no encoder \(build)"
        case .boardOfOtherVersion(let found, let known):
            "the board in Redis has version \(found), this program knows version \(known): use one release everywhere, or "
                + "another Redis or namespace"
        case .boardUnprepared(nil, let known):
            "Redis has no functions of the board, and its user may not load them: version \(known) is needed"
        case .boardUnprepared(let found?, let known):
            "Redis has the board's functions in version \(found), this program needs version \(known) and may not load it"
        case .boardOfNewerRelease(let found, let known):
            "Redis has the board's functions in version \(found), this program knows version \(known): a newer release "
                + "works on this board, so use that everywhere"
        case .redisUnreachable(let address, let said, _): "Redis at \(address): \(said)"
        case .redisRefused(let address, let said, _): "Redis at \(address) refuses: \(said)"
        case .boardLost(let jobs):
            "Redis has lost jobs that had not ended (\(jobs.prefix(3).map(\.text).joined(separator: ", "))"
                + (jobs.count > 3 ? ", …" : "")
                + "): recover puts back what the store has of them; Redis's own log is left unchanged"
        case .boardUnreadable(let said): "the board holds something that this version cannot read: \(said)"
        case .passesVanished(let job): "Redis lost passes of job \(job) while they were published: submit the job again"
        case .namespaceInvalid(let name):
            "\(name) is no namespace: one has 1 to 64 letters, digits, dots, hyphens and underscores"
        case .redisAddressInvalid(let address, let fault):
            "Redis address\(address.map { " \($0)" } ?? ""): \(fault.words). It looks like "
                + "redis://[user[:password]@]host[:port][/db] or unix:///path?db=N"
        case .jobContradictory(let job, let fault): "job \(job) cannot be put on the board: \(fault.words)"
        case .jobNotEnded(let job, let state): "job \(job) is \(state.rawValue): cancel it first"

        // MARK: Jobs
        case .outputTwice(let path, let source): "\(path) would be the output of \(source), too; only that is made"
        case .jobUnknown(let job): "there is no job \(job)"
        case .jobAmbiguous(let name, let matches):
            "the ids of several jobs begin with \(name): \(matches.map(\.text).joined(separator: ", "))"
        case .workersAbsent(known: 0): "no worker is connected"
        case .workersAbsent(let known):
            "no worker takes work: \(known == 1 ? "the only one" : "each of \(known)") is gone, drained, or claims nothing"
        case .jobUnended(let job, let seconds): "job \(job) has not ended after \(seconds) s; it goes on"
        case .jobNotOnBoard(let job): "the board has lost job \(job)"
        case .jobForgotten(let job): "the board knows no job \(job) any more"
        case .jobCancelled(let job): "job \(job) was cancelled"
        case .jobFailed(let job): "job \(job) failed"
        case .jobNotFinished(let job, let state): "job \(job) is not finished: it is \(state.rawValue)"
        case .jobEnded(let job, let state):
            "job \(job) has ended, it is \(state.rawValue): it can be neither paused nor changed"
        case .jobNotFailed(let job, let state): "job \(job) has not failed: it is \(state?.rawValue ?? "unfinished")"
        case .jobsNotRecovered(let jobs): "could not recover jobs \(jobs.map(\.text).joined(separator: ", "))"
        case .jobGoesOn(let job): "interrupted; job \(job) goes on without this command"
        case .jobHeldBack(let job): "job \(job) is paused"
        case .passesWait(let job): "passes of job \(job) wait for a slot"
        case .probeLost(let job): "another process probes job \(job) now"
        case .engineMisanswered(let task): "the engine answered another request than \(task.rawValue)"
        case .sourceReplaced(let path): "\(path) has changed since the job was submitted; submit it again"
        case .interrupted: "interrupted"
        case .runStopped(let last): "\(last.words); the same command goes on where this one stopped"
        case .workspaceUnusable(let last): last.words
        case .quotaExceeded(let quota, let asked, let most): quota.exceeded(asked, most)
        case .sourceOutside(let path): "\(path) lies outside the folders from which sources are taken here"
        case .sourceRootUnusable(let path, let errno):
            "sources cannot be taken from \(path): \(SystemWords.text(errno))"
        case .sourceOutOfReach(let last): "on this host: \(last.words)"
        case .planDiffers(let job, let plan, let store):
            "the store \(store) has another plan \(plan) of job \(job) than the board"
        case .noResult(let job, let state): "job \(job) has no result: it is \(state?.rawValue ?? "not finished")"
        case .outputContainerDiffers(let job, let container, let output):
            "job \(job) made a .\(container.rawValue) file, which \(output) does not name"
        case .outputNotNamed(let output):
            "\(output) has no extension that reel writes: \(Container.names(Container.allCases))"
        case .storeNotNamed: "no store is named: the folder that coordinator and workers share"
        case .workerUnknown(let name): "no worker or host is named \(name)"
        case .redisUnusable(let last): last.words
        case .programMissing(let name, let folder):
            "\(name) is missing in \(folder): reel's programs must be in one folder"
        case .programsNotFound: "cannot find reel's programs: /proc/self/exe cannot be read"
        case .redisFileUnusable(let path, let errno):
            "\(path): cannot read the address of Redis: \(SystemWords.text(errno))"
        case .redisFileOpen(let path):
            "\(path): the address of Redis must be secret, but all users can read the file, or its group can change it"
        case .secretFileUnusable(let path, let errno): "\(path): cannot be used: \(SystemWords.text(errno))"
        case .secretFileOpen(let path):
            "\(path) keeps a secret, but all users can read it, or its group can change it"
        case .tokenFileDamaged(let path, let line): "\(path): line \(line) is no token that reel-server has written"
        case .tokenNameTaken(let name, let path): "\(path) has a token \(name) already"
        case .secretTooShort(let path, let least): "\(path): the secret has fewer than \(least) bytes"
        case .webhooksTooMany(let job, let most): "job \(job) has \(most) webhooks already, and no job can have more"
        case .curlNotInstalled: "curl is not installed, so that no webhook can be sent: apt-get install curl"
        case .addressUnusable(let address, let said): "cannot listen at \(address): \(said)"
        case .sandboxIncomplete(let missing):
            "the kernel of this machine cannot confine engines: it has no \(missing.map(\.words).joined(separator: " and no "))"
        case .folderUnwritable(let path, let errno):
            "cannot write in \(path)" + (errno.map { ": \(SystemWords.text($0))" } ?? "")
        case .redisNotInstalled: "redis-server is not installed: apt-get install redis-server"
        case .redisSilent(let said): "redis-server does not answer: \(said)"
        case .localWorkerEnded(let said): "the local worker ended: \(said)"
        case .unexpected(let said): "\(said)"
        }
    }
}

/// The beginning of a message about a file.
private func prefix(_ path: String?) -> String { path.map { "\($0): " } ?? "" }

/// The end of a message that quotes a program's last words.
private func quoting(_ lastWords: String?) -> String { lastWords.map { "; it last said: \($0)" } ?? "" }

/// "pass 3", or "the probe".
struct PassNumber: CustomStringConvertible {
    let number: Int

    init(_ number: Int) { self.number = number }

    var description: String { number < 0 ? "the probe" : "pass \(number)" }
}
