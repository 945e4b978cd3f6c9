internal import Glibc

/// Finds the constant quality at which a chunk has about as many bits as the source has for its frames, if the finest
/// quality makes many more: most of them would keep what compression has done to the source.
package struct QualitySearch: Sendable {
    /// Bits of the source.
    private let wanted: Double
    /// From the finest to the coarsest.
    private let range: ClosedRange<Double>
    /// How much coarser a quality is with half the bits.
    private var halving: Double
    /// That of the next attempt.
    package private(set) var quality: Double
    private var attempts: [(quality: Double, bits: Double)] = []

    /// How many bits a chunk may have for each of the source.
    private static let most = 1.2
    /// A coarser quality than the finest makes at least this many.
    private static let least = 0.7
    /// An attempt is given up if its first packets show that it will have this many.
    private static let tooMany = 1.4
    /// What a coarser quality is chosen for.
    private static let aim = 1.08
    private static let mostAttempts = 3

    /// - Parameters:
    ///   - bits: of the source for the chunk's frames; positive.
    ///   - range: the finest quality, with which the search begins, and the coarsest.
    ///   - halving: how much coarser a quality is that makes half the bits, as a rule.
    package init(like bits: Double, in range: ClosedRange<Double>, halving: Double) {
        (wanted, self.range, self.halving) = (bits, range, halving)
        quality = range.lowerBound
    }

    /// Takes the bits that the encoder made at `quality`, and chooses that of the next attempt.
    package mutating func judge(_ bits: Double) -> ChunkSearch.Verdict {
        let isFine = quality <= range.lowerBound || bits >= Self.least * wanted
        if bits <= Self.most * wanted, isFine { return .fits }
        return attempts.count + 1 < Self.mostAttempts && choose(after: bits) ? .again : .fits
    }

    /// As `ChunkSearch` has it. Only the first attempt is given up: a chunk may end in another way than it begins.
    package mutating func abandons(at bits: Double) -> Bool {
        attempts.isEmpty && bits > Self.tooMany * wanted && choose(after: bits)
    }

    /// Chooses the quality of the next attempt. Returns whether it is another one.
    private mutating func choose(after bits: Double) -> Bool {
        let tried = quality
        if let last = attempts.last, last.bits != bits, last.quality != tried {
            halving = min(max((tried - last.quality) / log2(last.bits / bits), 2), 20)
        }
        attempts.append((tried, bits))
        // In tenths, so that machines whose logarithms differ in their last digit choose the same.
        let next = ((tried + halving * log2(max(bits, 1) / (Self.aim * wanted))) * 10).rounded() / 10
        quality = min(max(next, range.lowerBound), range.upperBound)
        return quality != tried
    }
}
