internal import FoundationEssentials
internal import ReelCore

// What an engine says of its failures decides what becomes of the job, the pass and the worker: whether an attempt is
// charged, whether a host is excluded, whether a worker waits for room on its disk. Only reasons that an intact engine
// can have are believed.

extension ReelFailure {
    /// The greatest length of an engine's failure as JSON, in bytes: two paths and a quotation.
    static let longestOfEngine = 16 << 10

    /// Whether its length is that of an engine's failure. The board keeps it.
    var isShort: Bool { ((try? JSONEncoder().encode(self))?.count).map { $0 <= Self.longestOfEngine } ?? false }

    /// Whether an engine that is about to confine itself may fail so.
    var mayPreventStart: Bool {
        switch reason {
        case .sandboxIncomplete, .sourceOutside, .sourceRootUnusable: true
        default: false
        }
    }

    /// Whether an engine that was asked for this may fail so.
    func mayAnswer(_ request: EngineRequest) -> Bool {
        switch reason {
        // Passes and pictures alone decode what was indexed or decoded before.
        case .planDisproved, .decodesOtherwise: request.isVideoPass || request.isOfPictures
        // Only the assembly reads segments.
        case .segmentMissing, .segmentDiffers, .segmentFlawed, .partsEnded, .verificationFailed: request.isAssembly
        default: reason.isOfMedia || reason.isOfEncoding || reason.isOfFiles
        }
    }
}

extension EngineRequest {
    fileprivate var isVideoPass: Bool { if case .reverse = self { true } else { false } }

    fileprivate var isOfPictures: Bool { if case .pictures = self { true } else { false } }

    fileprivate var isAssembly: Bool { if case .assemble = self { true } else { false } }
}

extension FailureReason {
    /// What a source or its index is.
    fileprivate var isOfMedia: Bool {
        switch self {
        case .sourceUnreadable, .notMedia, .sourceIsPicture, .noVideo, .noSound, .encrypted, .noDecoder, .headerDamaged,
            .nothingDecodes, .decoderStuck, .noFrames, .noStart, .impossibleSizes, .sourceChanged,
            .pictureUnconvertible, .videoDamaged,
            .soundOutOfReach, .indexVersion, .indexDamaged, .codecAbsent, .mediaFailed, .outOfMemory:
            true
        default: false
        }
    }

    /// What a job wants that cannot be encoded or written.
    fileprivate var isOfEncoding: Bool {
        switch self {
        case .rangeEmpty, .nothingInRange, .clipOutOfRange, .timecodeInvalid, .trackMissing, .clipUnshared,
            .soundtrackOutOfRange, .stillTooLong, .dynamicRangesMixed, .interlacedMixed, .memoryTooSmall,
            .encoderUnknown, .encoderAbsent, .encoderRefuses, .settingUnknown,
            .optionUnsupported, .valueUnsupported, .sizeIndivisible, .sizeTooLarge, .sourceRateUnsupported,
            .pixelFormatUnsupported, .pixelFormatLossy, .codecNotHeld, .noSoundHeld, .losslessCodecFixed,
            .losslessNotHeld, .rawNotGivenBack, .framesTooClose, .pictureTooLong, .framesUneven, .frameRateNotHeld,
            .copyWithOption,
            .optionNotOfContainer, .copyImpossible, .copyNotGivenBack, .encoderDiffers, .encoderMiscounts,
            .packetWithoutTime, .nothingToEncode, .planLacks:
            true
        default: false
        }
    }

    /// What reading and writing files brings.
    fileprivate var isOfFiles: Bool {
        switch self {
        case .diskFull, .outputRefused, .fileFailed, .jobFileUnreadable, .storeUnusable, .storeFull, .storeFileDamaged,
            .storeFileForeign, .notEncodable, .unexpected:
            true
        default: false
        }
    }
}
