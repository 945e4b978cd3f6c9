/// Finds the rate at which an encoder makes nearly as many bits of a chunk as it may, by trying. The same encoder comes to
/// the same rate on any machine.
package struct RateSearch: Sendable {
    /// The most bits that the chunk may have.
    private let most: Double
    /// No attempt has a higher rate.
    private let highest: Double
    /// The rate of the next attempt, in bits per second.
    package private(set) var rate: Double
    private var (attempts, excesses) = (0, 0)
    /// The highest rate that made few enough bits, and the lowest that made too many.
    private var (low, high): (Attempt?, Attempt?)
    /// Whether the next attempt repeats the best of the earlier ones.
    private var isRepeat = false

    private struct Attempt {
        let rate: Double
        let bits: Double
    }

    /// The part of the bits that a chunk has at least, unless more do not improve it.
    private static let least = 0.97
    private static let aim = 0.985
    /// Encoders take their rate in thousands of bits a second.
    private static let lowest = 1000.0
    private static let mostAttempts = 8
    /// If no attempt was small enough by then, there is no such rate.
    private static let lastAttempt = 14

    /// - Parameters:
    ///   - bits: the most that the chunk may have.
    ///   - rate: the rate of the first attempt; positive.
    ///   - highest: the highest rate that is worth asking for.
    package init(most bits: Double, from rate: Double, highest: Double) {
        (most, self.highest) = (bits, max(highest, RateSearch.lowest))
        self.rate = min(max(rate, RateSearch.lowest), self.highest)
    }

    /// Takes the bits that the encoder made at `rate`, and chooses the rate of the next attempt.
    package mutating func judge(_ bits: Double) -> ChunkSearch.Verdict {
        attempts += 1
        let attempt = Attempt(rate: rate, bits: bits)
        if bits <= most {
            // At a rate that is clearly higher, hardly more bits: quality has its limit.
            let isSaturated = low.map { rate > 1.1 * $0.rate && bits < 1.01 * $0.bits } ?? false
            if isRepeat || isSaturated || bits >= RateSearch.least * most || rate >= highest { return .fits }
            if rate > low?.rate ?? 0 { low = attempt }
        } else {
            excesses += 1
            if rate < high?.rate ?? .infinity { high = attempt }
        }
        guard attempts < RateSearch.lastAttempt else { return .hopeless }
        let next: Double
        if attempts >= RateSearch.mostAttempts {
            isRepeat = low != nil
            next = low?.rate ?? rate / 2
        } else {
            next = between(rate * min(max(RateSearch.aim * most / max(bits, 1), 0.25), 4))
        }
        rate = min(max(next, RateSearch.lowest), highest)
        return .again
    }

    /// The rate, or one within the bounds that are known if it lies outside.
    private func between(_ rate: Double) -> Double {
        guard let high else { return rate }
        // An encoder that has made too many bits twice makes them at lower rates, too: larger and larger steps.
        guard let low else { return (1..<excesses).reduce(rate) { rate, _ in 0.75 * rate } }
        guard low.rate < high.rate else { return low.rate }
        return low.rate < rate && rate < high.rate ? rate : (low.rate * high.rate).squareRoot()
    }
}
