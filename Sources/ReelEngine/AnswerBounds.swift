internal import FoundationEssentials
package import ReelCore

// An engine reads hostile files, and its answers are stored on the board. Answers that an intact engine would not give
// are refused before they are used.

extension EngineEvent {
    /// Nil if the line is not an event, or has counts that no engine reaches.
    init?(line: [UInt8]) {
        guard let event = try? JSONDecoder().decode(EngineEvent.self, from: Data(line)) else { return nil }
        if case .progress(let progress) = event, !progress.hasPlausibleNumbers { return nil }
        self = event
    }
}

extension EngineProgress {
    /// Whether all counts are within 0...2^50.
    fileprivate var hasPlausibleNumbers: Bool {
        let numbers: [Int] =
            switch self {
            case .recon(let packets, let thousandths): [packets, thousandths]
            case .video(let decoded, let encoded, let frames): [decoded, encoded, frames.lowerBound, frames.upperBound]
            case .sound: []
            case .assembly(let packets, let frames, let thousandths): [packets, frames, thousandths]
            }
        return numbers.allSatisfy { (0...1 << 50).contains($0) }
    }
}

extension EngineRequest {
    /// The greatest length, in bytes, of a line without an answer, or of an answer that does not grow with the work.
    static let longestLine = 256 << 10

    /// The greatest length of the line of its answer, in bytes.
    var longestAnswer: Int {
        switch self {
        case .reverse(let pass), .reverseAudio(let pass):
            Self.longestLine + min(pass.segments.count, 1 << 20) * (4 << 10)
        case .recon, .choose, .assemble, .pictures: Self.longestLine
        }
    }
}

extension EngineResult {
    /// The part of the result that cannot answer this request; nil if the result is sound. The caller checks that the
    /// result is of the request's kind.
    func flaw(answering request: EngineRequest) -> ResultPart? {
        switch (request, self) {
        case (.reverse(let pass), .pass(let result)), (.reverseAudio(let pass), .pass(let result)):
            result.flaw(answering: pass)
        case (_, .assembly(let result)): result.hasPlausibleNumbers ? nil : .numbers
        case (.choose(let choice), .targets(let targets)):
            targets.isSound(sources: choice.indexes.count) ? nil : .numbers
        // A file may have hundreds of fonts that an output cannot hold, and each is named once per job: only the length
        // of the line limits them.
        case (_, .recon), (_, .pass), (_, .targets), (_, .pictures): nil
        }
    }
}

extension TargetsResult {
    fileprivate func isSound(sources count: Int) -> Bool {
        video.isSound && audio.allSatisfy { $0.isSound(sources: count) }
    }

    /// Whether all numbers are within range, for a job of sources with these indexes, so that it can be planned.
    package func isSound(for indexes: [SourceIndex]) -> Bool {
        isSound(sources: indexes.count) && audio.allSatisfy { indexes[$0.source].audio.indices.contains($0.track) }
    }
}

extension AssemblyResult {
    fileprivate var hasPlausibleNumbers: Bool {
        bytes >= 0 && packets >= 0 && peakRSS >= 0 && ContentHash.isOne(checksum)
    }
}

extension PassResult {
    fileprivate func flaw(answering request: PassRequest) -> ResultPart? {
        let names = Set(segments.map(\.name))
        // The engine makes the segments that were not whole before, each once, under the name that it was given.
        guard names.count == segments.count, names.isSubset(of: request.segments.compactMap { $0?.name }) else {
            return .segments
        }
        let areBounded = diagnostics.areBounded && segments.allSatisfy(\.diagnostics.areBounded)
        return areBounded ? nil : .diagnostics
    }
}

/// Diagnostics of a pass, or of one of its segments.
extension [Diagnostic] {
    /// Bytes of one diagnostic as JSON: sixteen moments, or a few names of 300 characters.
    private static let longest = 2 << 10

    fileprivate var areBounded: Bool {
        count <= Diagnostic.mostOfPass
            && allSatisfy { diagnostic in
                ((try? JSONEncoder().encode(diagnostic))?.count).map { $0 <= Self.longest } ?? false
            }
    }
}

// The reason of an engine's failure decides what becomes of the job, the pass and the worker: whether an attempt is
// charged, whether a host is excluded, whether a worker waits for room on its disk. Only reasons that an intact engine
// can have are believed.

extension ReelFailure {
    /// The greatest length of an engine's failure as JSON, in bytes: two paths and a quotation.
    static let longestOfEngine = 16 << 10

    /// Whether its length is that of an engine's failure. The board keeps it.
    var isShort: Bool { ((try? JSONEncoder().encode(self))?.count).map { $0 <= Self.longestOfEngine } ?? false }

    /// Whether an engine may fail with this while it confines itself.
    var mayPreventStart: Bool {
        switch reason {
        case .sandboxIncomplete, .sourceOutside, .sourceRootUnusable: true
        default: false
        }
    }

    /// Whether an engine may answer this request with this failure.
    func mayAnswer(_ request: EngineRequest) -> Bool {
        switch reason {
        // Only passes of video and pictures decode frames that were indexed or decoded before.
        case .planDisproved, .decodesOtherwise:
            switch request {
            case .reverse, .pictures: true
            default: false
            }
        // Only the assembly reads segments.
        case .segmentMissing, .segmentDiffers, .segmentFlawed, .partsEnded, .verificationFailed:
            if case .assemble = request { true } else { false }
        // The source or its index.
        case .sourceUnreadable, .notMedia, .sourceIsPicture, .noVideo, .noSound, .encrypted, .noDecoder, .headerDamaged,
            .nothingDecodes, .decoderStuck, .noFrames, .noStart, .impossibleSizes, .sourceChanged,
            .pictureUnconvertible, .videoDamaged, .soundOutOfReach, .indexVersion, .indexDamaged, .codecAbsent,
            .mediaFailed, .outOfMemory:
            true
        // Requests of a job that cannot be encoded or written.
        case .rangeEmpty, .nothingInRange, .clipOutOfRange, .timecodeInvalid, .trackMissing, .clipUnshared,
            .rangeTooShort,
            .soundtrackOutOfRange, .stillTooLong, .dynamicRangesMixed, .interlacedMixed, .memoryTooSmall,
            .encoderUnknown, .encoderAbsent, .encoderRefuses, .settingUnknown, .optionUnsupported, .valueUnsupported,
            .sizeIndivisible, .sizeTooLarge, .sizeUnreachable, .sourceRateUnsupported, .pixelFormatUnsupported,
            .pixelFormatLossy,
            .codecNotHeld, .noSoundHeld, .losslessCodecFixed, .losslessNotHeld, .rawNotGivenBack, .framesTooClose,
            .pictureTooLong, .framesUneven, .frameRateNotHeld, .copyWithOption, .optionNotOfContainer, .copyImpossible,
            .copyNotGivenBack, .encoderDiffers, .encoderMiscounts, .packetWithoutTime, .nothingToEncode, .planLacks,
            .chunkTooLarge, .outputTooLarge:
            true
        // Reading and writing files.
        case .diskFull, .outputRefused, .fileFailed, .jobFileUnreadable, .storeUnusable, .storeFull, .storeFileDamaged,
            .storeFileForeign, .notEncodable, .unexpected:
            true
        default: false
        }
    }
}
