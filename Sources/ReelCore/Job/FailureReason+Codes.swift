extension FailureReason {
    /// The codes, in the order of docs/diagnostics.md. They are stored: never change one.
    package enum CodingKeys: String, CodeKey {
        // MARK: Source
        case sourceUnreadable, notMedia, sourceIsPicture, noVideo, noSound, encrypted, noDecoder, headerDamaged,
            nothingDecodes, decoderStuck, noFrames, noStart, impossibleSizes, sourceChanged, planDisproved,
            decodesOtherwise, pictureUnconvertible, videoDamaged, soundOutOfReach

        // MARK: Request
        case rangeEmpty, nothingInRange, timecodeInvalid, trackMissing, editFlawed, timelineSpeed, timelineSoundtrack,
            clipOutOfRange, clipUnshared, soundtrackOutOfRange, stillTooLong, dynamicRangesMixed, interlacedMixed,
            memoryTooSmall, encoderUnknown, encoderAbsent, encoderRefuses, settingUnknown, optionUnsupported,
            valueUnsupported, sizeIndivisible, sizeTooLarge, sourceRateUnsupported, pixelFormatUnsupported,
            pixelFormatLossy, codecNotHeld, noSoundHeld, losslessCodecFixed, losslessNotHeld, rawNotGivenBack,
            framesTooClose, pictureTooLong, framesUneven, frameRateNotHeld, copyWithOption, optionNotOfContainer,
            copyImpossible, copyNotGivenBack

        // MARK: Engine
        case mediaFailed, outOfMemory, diskFull, outputRefused, fileFailed, jobFileUnreadable, planLacks, indexVersion,
            indexDamaged, codecAbsent, encoderDiffers, encoderMiscounts, packetWithoutTime, nothingToEncode,
            segmentFlawed, segmentMissing, segmentDiffers, segmentListUnreadable, partsEnded, verificationFailed,
            engineUnstartable, engineVersion, engineWithoutOutput, requestUnwritable, engineInterrupted, engineEnded,
            engineHung, engineNonsense, engineDied

        // MARK: Store
        case sourceInaccessible, sourceIsFolder, folderWithoutVideos, sourceEmpty, sourceIsURL, sourceNotAFile,
            sourceChangedWhileCopied, storeUnusable, storeFull, storeFileDamaged, storeFileForeign, storeMissing,
            storeNameEmpty, storeEmpty, storeDiffers, storeOfOtherVersion, workspaceForeign, resultDiffers,
            argumentNotText, notEncodable, segmentListUnwritable, jobUnknownHere, jobHeld, outputExists,
            outputIsSource, outputIsFolder, outputNotAFile, outputUnnamed, outputFolderMissing, outputUnwritable,
            outputFull, copyInterrupted, planOfOtherVersion, indexMissing, jobOfOtherVersion

        // MARK: Board
        case passExhausted, passLost, passOutOfMemory, noWorkerCan, workerVanished, encoderMissing, boardOfOtherVersion,
            boardUnprepared, boardOfNewerRelease, redisUnreachable, redisRefused, boardLost, boardUnreadable,
            passesVanished, redisAddressInvalid, namespaceInvalid, jobContradictory, jobNotEnded

        // MARK: Jobs
        case outputTwice, jobUnknown, jobAmbiguous, jobUnended, workersAbsent, jobNotOnBoard, jobForgotten,
            jobCancelled, jobFailed, jobNotFinished, jobEnded, jobNotFailed, jobsNotRecovered, jobGoesOn, jobHeldBack,
            passesWait, probeLost, engineMisanswered, quotaExceeded, sourceOutside, sourceRootUnusable, sourceReplaced,
            interrupted, runStopped, workspaceUnusable, sourceOutOfReach, planDiffers, noResult,
            outputContainerDiffers, outputNotNamed, storeNotNamed, workerUnknown, redisUnusable, programMissing,
            programsNotFound, redisFileUnusable, redisFileOpen, secretFileUnusable, secretFileOpen, tokenFileDamaged,
            tokenNameTaken, secretTooShort, webhooksTooMany, curlNotInstalled, addressUnusable, sandboxIncomplete,
            folderUnwritable, redisNotInstalled, redisSilent, localWorkerEnded, unexpected
    }
}
