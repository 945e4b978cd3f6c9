/// The search for the setting with which an encoder makes as many bits of a chunk as it should, by trying. The same encoder
/// comes to the same setting on any machine.
package enum ChunkSearch: Sendable {
    case rate(RateSearch)
    case quality(QualitySearch)

    package enum Verdict: Sendable { case fits, again, hopeless }

    /// Takes the bits that the encoder made with the present setting, and chooses that of the next attempt.
    package mutating func judge(_ bits: Double) -> Verdict {
        switch self {
        case .rate(var search):
            defer { self = .rate(search) }
            return search.judge(bits)
        case .quality(var search):
            defer { self = .quality(search) }
            return search.judge(bits)
        }
    }

    /// Takes what an attempt will come to, by its first packets. Returns whether it is not worth going on with; then the
    /// setting of the next attempt is chosen.
    package mutating func abandons(at bits: Double) -> Bool {
        guard case .quality(var search) = self else { return false }
        defer { self = .quality(search) }
        return search.abandons(at: bits)
    }
}
