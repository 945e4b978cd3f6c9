internal import FoundationEssentials
package import ReelCore

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
        case .recon, .choose, .assemble, .pictures: Self.longestLine
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
        isSound(sources: indexes.count)
            && audio.allSatisfy { indexes[$0.source].audio.indices.contains($0.track) }
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
