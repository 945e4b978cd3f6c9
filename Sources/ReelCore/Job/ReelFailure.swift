/// An error: the reason why something did not work. The exit code, the consequence on the board and the owner follow
/// from the reason; `ReelWords` makes the words when it is shown.
package struct ReelFailure: Error, Hashable, Codable, Sendable {
    /// The raw value is the exit code: 1 job failed, 2 usage, 3 bad input, 4 Redis or store unreachable, 5 output cannot be
    /// written, 130 interrupted.
    package enum Kind: Int32, Sendable {
        case job = 1
        case usage, input, unreachable, output
        case interrupted = 130
    }

    /// The part of the system, or the user, that has to act on a failure.
    package enum Owner: String, Codable, CaseIterable, Sendable {
        /// The user: the source file is the cause.
        case source
        /// The user: the request is the cause.
        case request
        /// The job: its plan, segments or output.
        case job
        /// The host's administrator: a disk, a folder, a missing library.
        case host
        /// The worker: an engine or a worker that died.
        case worker
        /// No action is needed: it may work the next time.
        case passing
    }

    package var reason: FailureReason

    package init(_ reason: FailureReason) { self.reason = reason }

    package var kind: Kind { reason.nature.kind }
    package var cause: FailureCause { reason.nature.cause }
    package var owner: Owner { reason.nature.owner }

    package init(from decoder: any Decoder) throws { reason = try FailureReason(from: decoder) }
    package func encode(to encoder: any Encoder) throws { try reason.encode(to: encoder) }

    package var exitCode: Int32 { kind.rawValue }
}

package struct FailureNature: Hashable, Sendable {
    package var owner: ReelFailure.Owner
    package var kind: ReelFailure.Kind
    package var cause: FailureCause

    init(_ owner: ReelFailure.Owner, _ kind: ReelFailure.Kind, _ cause: FailureCause = .permanent) {
        self.owner = owner
        self.kind = kind
        self.cause = cause
    }
}

extension FailureReason {
    /// The pass that has to be done again, by its place in the plan, because its segment is missing, is not the one
    /// recorded, or is not what the plan wants; nil for all other reasons.
    package var passToRepeat: Int? {
        switch self {
        case .segmentMissing(_, let pass), .segmentDiffers(_, let pass): pass
        case .segmentFlawed(_, let pass, _): pass
        default: nil
        }
    }

    /// Whether a job's plan has proved wrong, so that the job must be planned anew.
    package var disprovesPlan: Bool { if case .planDisproved = self { true } else { false } }

    package var isEncodersRefusal: Bool { if case .encoderRefuses = self { true } else { false } }

    /// Whether one of reel's own files, in the store or on scratch, could not be used on this host. That may pass.
    package var isOfStore: Bool {
        switch self {
        case .storeUnusable: true
        case .fileFailed(_, _, _, let passes): !passes
        default: false
        }
    }

    /// Whether it says that this host cannot use the bucket in which the jobs are kept. No job is charged for that. A
    /// compromised engine may say so, too, and is not believed: `JobStore.isAway` asks the bucket.
    package var saysStoreIsAway: Bool {
        switch self {
        case .bucketMissing(.store, _), .bucketDenied(.store, _), .bucketElsewhere(.store, _, _, _),
            .bucketClockDiffers(.store, _, _), .bucketKeysAbsent(.store, _, _), .bucketKeysWrong(.store, _),
            .bucketKeysExpired(.store, _), .bucketUnanswered(.store, _, _), .bucketMisanswered(.store, _, _):
            true
        default: false
        }
    }

    package var nature: FailureNature {
        switch self {
        // MARK: Source
        case .notMedia, .sourceIsPicture, .noVideo, .noSound, .encrypted, .headerDamaged, .nothingDecodes,
            .decoderStuck, .noFrames, .noStart, .impossibleSizes, .sourceChanged, .pictureUnconvertible, .videoDamaged,
            .soundOutOfReach:
            FailureNature(.source, .input)
        case .sourceUnreadable(_, _, let passes): FailureNature(.host, .input, passes ? .transient : .incompatible)
        case .noDecoder: FailureNature(.host, .input)
        case .planDisproved: FailureNature(.job, .job, .transient)
        case .decodesOtherwise: FailureNature(.host, .job, .incompatible)

        // MARK: Request
        case .editFlawed, .timelineSpeed, .timelineSoundtrack, .clipOutOfRange, .clipUnshared, .soundtrackOutOfRange,
            .stillTooLong, .dynamicRangesMixed, .interlacedMixed:
            FailureNature(.request, .input)
        case .rangeEmpty, .nothingInRange, .rangeTooShort, .soundHasNoFrames, .timecodeInvalid, .trackMissing,
            .memoryTooSmall,
            .encoderUnknown,
            .encoderRefuses, .settingUnknown, .optionUnsupported, .valueUnsupported, .sizeIndivisible, .sizeTooLarge,
            .sizeUnreachable, .sourceRateUnsupported, .pixelFormatUnsupported, .losslessCodecFixed, .copyWithOption,
            .optionNotOfContainer:
            FailureNature(.request, .usage)
        case .encoderAbsent: FailureNature(.host, .usage, .incompatible)
        case .pixelFormatLossy, .codecNotHeld, .noSoundHeld, .losslessNotHeld, .rawNotGivenBack, .framesTooClose,
            .pictureTooLong, .framesUneven, .frameRateNotHeld, .copyImpossible, .copyNotGivenBack:
            FailureNature(.request, .input)

        // MARK: Engine
        case .mediaFailed, .segmentMissing, .segmentDiffers, .segmentFlawed, .segmentListUnreadable:
            FailureNature(.job, .job, .transient)
        case .outOfMemory: FailureNature(.job, .job, .limit)
        case .diskFull: FailureNature(.host, .output, .noSpace)
        case .outputRefused: FailureNature(.job, .output)
        case .fileFailed(_, let step, _, let passes):
            FailureNature(.host, step.writes ? .output : .unreachable, passes ? .transient : .incompatible)
        case .jobFileUnreadable: FailureNature(.host, .unreachable, .incompatible)
        case .indexVersion: FailureNature(.host, .job)
        case .planLacks, .indexDamaged, .encoderMiscounts, .chunkTooLarge, .outputTooLarge, .packetWithoutTime,
            .nothingToEncode, .partsEnded,
            .verificationFailed, .requestUnwritable:
            FailureNature(.job, .job)
        case .codecAbsent, .encoderDiffers, .engineUnstartable, .engineVersion:
            FailureNature(.host, .job, .incompatible)
        case .engineWithoutOutput: FailureNature(.worker, .job)
        case .engineInterrupted: FailureNature(.passing, .interrupted, .transient)
        case .engineEnded: FailureNature(.passing, .job, .transient)
        // The engine had not read anything yet, so no file can be the cause.
        case .engineHung(.start, _, _, _), .engineNonsense(.start, _, _), .engineDied(.start, _, _):
            FailureNature(.host, .unreachable, .crash)
        case .engineHung, .engineNonsense, .engineDied: FailureNature(.worker, .job, .crash)

        // MARK: Store
        case .sourceInaccessible, .sourceIsFolder, .folderWithoutVideos, .sourceEmpty, .sourceIsURL, .sourceNotAFile,
            .sourceChangedWhileCopied, .urlRefused, .urlWithoutRanges, .urlMisanswered:
            FailureNature(.source, .input)
        case .urlInvalid, .stagedURL, .outputNotTaken: FailureNature(.request, .usage)
        case .urlHostForbidden: FailureNature(.host, .input, .incompatible)
        case .urlUnanswered: FailureNature(.host, .input, .transient)
        case .bucketMissing(let role, _), .objectMissing(let role, _):
            FailureNature(role == .source ? .source : .host, role.kind)
        // Another host may have other keys, another clock or another network.
        case .bucketDenied(let role, _), .bucketElsewhere(let role, _, _, _), .bucketClockDiffers(let role, _, _),
            .bucketKeysAbsent(let role, _, _), .bucketKeysWrong(let role, _), .bucketKeysExpired(let role, _),
            .bucketMisanswered(let role, _, _):
            FailureNature(.host, role.kind, .incompatible)
        case .bucketUnanswered(let role, _, _): FailureNature(.host, role.kind, .transient)
        case .storeUnusable, .jobUnknownHere, .storeMissing, .storeEmpty, .storeDiffers, .storeOfOtherVersion,
            .planOfOtherVersion, .indexMissing, .jobOfOtherVersion:
            FailureNature(.host, .unreachable, .incompatible)
        case .storeFull, .scratchTooSmall: FailureNature(.host, .unreachable, .noSpace)
        case .storeFileDamaged, .storeFileForeign: FailureNature(.job, .unreachable)
        case .storeNameEmpty, .storeNameInvalid, .argumentNotText: FailureNature(.request, .usage)
        case .storeTurnLost: FailureNature(.host, .unreachable, .transient)
        case .resultDiffers, .notEncodable: FailureNature(.job, .job)
        case .segmentListUnwritable: FailureNature(.host, .unreachable, .transient)
        case .jobHeld, .storeHeld: FailureNature(.passing, .unreachable)
        case .outputExists, .outputIsSource, .outputIsFolder, .outputNotAFile, .outputUnnamed, .outputFolderMissing:
            FailureNature(.request, .output)
        case .workspaceForeign, .outputUnwritable: FailureNature(.host, .output)
        case .outputFull: FailureNature(.host, .output, .noSpace)
        case .copyInterrupted: FailureNature(.passing, .interrupted, .transient)

        // MARK: Board
        case .passLost: FailureNature(.worker, .job)
        case .passOutOfMemory: FailureNature(.job, .job)
        case .passExhausted(_, _, let last), .noWorkerCan(_, let last): FailureNature(last.owner, last.kind)
        case .workerVanished: FailureNature(.worker, .job, .lost)
        case .encoderMissing: FailureNature(.host, .job, .incompatible)
        case .boardOfOtherVersion, .boardUnprepared, .boardOfNewerRelease:
            FailureNature(.host, .unreachable, .incompatible)
        case .redisUnreachable(_, _, let passes), .redisRefused(_, _, let passes):
            FailureNature(passes ? .passing : .host, .unreachable, passes ? .transient : .permanent)
        case .boardLost, .boardUnreadable: FailureNature(.host, .unreachable)
        case .passesVanished: FailureNature(.passing, .unreachable, .transient)
        case .redisAddressInvalid, .namespaceInvalid, .jobContradictory, .jobNotEnded: FailureNature(.request, .usage)

        // MARK: Jobs
        case .jobUnknown, .jobAmbiguous, .outputTwice, .jobEnded, .jobNotFailed, .outputContainerDiffers,
            .outputNotNamed, .workerUnknown, .tokenNameTaken, .webhooksTooMany:
            FailureNature(.request, .usage)
        case .jobNotOnBoard: FailureNature(.host, .usage)
        case .jobForgotten, .programsNotFound, .redisFileUnusable, .redisFileOpen, .secretFileUnusable, .secretFileOpen,
            .secretTooShort, .curlNotInstalled, .tokenFileDamaged, .addressUnusable, .sandboxIncomplete,
            .folderUnwritable, .redisNotInstalled, .redisSilent, .localWorkerEnded, .localServerEnded:
            FailureNature(.host, .unreachable)
        case .jobCancelled, .jobNotFinished, .noResult: FailureNature(.request, .job)
        case .jobFailed: FailureNature(.job, .job)
        case .workersAbsent: FailureNature(.host, .unreachable, .transient)
        case .jobsNotRecovered: FailureNature(.job, .unreachable)
        case .jobGoesOn, .jobHeldBack, .passesWait, .interrupted: FailureNature(.passing, .interrupted, .transient)
        case .jobUnended, .probeLost: FailureNature(.passing, .job, .transient)
        case .engineMisanswered: FailureNature(.worker, .job, .crash)
        case .sourceReplaced: FailureNature(.source, .input)
        case .runStopped(let last): FailureNature(last.owner, last.kind, last.cause)
        case .workspaceUnusable(let last): FailureNature(last.owner, .output, last.cause)
        case .quotaExceeded, .sourceOutside, .sourceOutOfReach: FailureNature(.host, .input, .incompatible)
        case .planDiffers, .programMissing: FailureNature(.host, .unreachable, .incompatible)
        case .storeNotNamed, .sourceRootUnusable: FailureNature(.request, .unreachable)
        case .redisUnusable(let last): FailureNature(.request, .unreachable, last.cause)
        case .unexpected: FailureNature(.job, .job, .transient)
        }
    }
}

extension ByteRole {
    /// The exit code follows from what the bytes are needed for.
    fileprivate var kind: ReelFailure.Kind {
        switch self {
        case .source: .input
        case .output: .output
        case .store: .unreachable
        }
    }
}

/// The class of a failed attempt, which decides what the board does next (see fail.lua).
package enum FailureCause: String, Codable, CaseIterable, Sendable {
    /// It may work another time.
    case transient
    /// The engine was killed by a signal, or hung.
    case crash
    case lost
    /// The pass needs more memory than its slot has.
    case limit
    /// This host cannot do this job: its source or store is out of reach, or its encoder is another build.
    case incompatible
    case noSpace = "no-space"
    case permanent
}
