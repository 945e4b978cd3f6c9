internal import FoundationEssentials
internal import ReelCore

// An engine reads hostile files, and its answers are stored on the board. Answers that an intact engine would not give
// are refused before they are used.

extension EngineRequest {
    /// The greatest length, in bytes, of a line without an answer, or of an answer that does not grow with the work.
    static let longestLine = 256 << 10

    /// The greatest length of the line of its answer, in bytes.
    var longestAnswer: Int {
        switch self {
        case .reverse(let pass), .reverseAudio(let pass):
            Self.longestLine + min(pass.segments.count, 1 << 20) * (4 << 10)
        case .recon, .choose, .assemble: Self.longestLine
        }
    }
}

extension EngineResult {
    /// The part of the result that cannot answer this request; nil if all of it can. The caller checks that the result
    /// is of the request's kind.
    func flaw(answering request: EngineRequest) -> ResultPart? {
        switch (request, self) {
        case (.reverse(let pass), .pass(let result)), (.reverseAudio(let pass), .pass(let result)):
            result.flaw(answering: pass)
        case (_, .assembly(let result)):
            result.hasPlausibleNumbers ? nil : .numbers
        case (_, .targets(let targets)):
            targets.video.isSound && targets.audio.allSatisfy(\.isSound) ? nil : .numbers
        // A file may have hundreds of fonts that an output cannot hold, and each is named once per job: only the length
        // of the line limits them.
        case (_, .recon), (_, .pass): nil
        }
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
    /// There are a dozen kinds, and each is reported once.
    private static let most = 20
    /// Bytes of one diagnostic as JSON: sixteen moments, or a few names of 300 characters.
    private static let longest = 2 << 10

    fileprivate var areBounded: Bool {
        count <= Self.most
            && allSatisfy { diagnostic in
                ((try? JSONEncoder().encode(diagnostic))?.count).map { $0 <= Self.longest } ?? false
            }
    }
}
