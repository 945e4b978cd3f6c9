internal import Glibc

/// Finds the rate at which an encoder makes nearly as many bits of a chunk as it may, by trying. The same encoder comes to
/// the same rate on any machine.
package struct RateSearch: Sendable {
    /// The most bits that the chunk may have.
    private let most: Double
    /// No attempt has a higher rate.
    private let highest: Double
    /// The rate of the next attempt, in bits per second.
    package private(set) var rate: Double
    private var attempts: [Attempt] = []
    /// The highest rate that made few enough bits, and the lowest that made too many.
    private var (low, high): (Attempt?, Attempt?)
    /// Whether the next attempt repeats the best of the earlier ones.
    private var isRepeat = false

    private struct Attempt {
        let rate: Double
        let bits: Double
    }

    /// The part of the bits that a chunk has at least, unless more do not improve it.
    private static let least = 0.98
    private static let aim = 0.99
    /// Encoders take their rate in thousands of bits a second. Rounding to them also has machines whose logarithms differ
    /// in the last digit choose the same rate.
    private static let step = 1000.0
    private static let mostAttempts = 8
    /// If no attempt was small enough by then, there is no such rate.
    private static let lastAttempt = 14

    /// - Parameters:
    ///   - bits: the most that the chunk may have.
    ///   - rate: the rate of the first attempt; positive.
    ///   - highest: the highest rate that is worth asking for.
    package init(most bits: Double, from rate: Double, highest: Double) {
        (most, self.highest) = (bits, max(highest, RateSearch.step))
        self.rate = rate
        self.rate = whole(rate)
    }

    /// Takes the bits that the encoder made at `rate`, and chooses the rate of the next attempt.
    package mutating func judge(_ bits: Double) -> ChunkSearch.Verdict {
        let attempt = Attempt(rate: rate, bits: bits)
        attempts.append(attempt)
        if bits <= most {
            // At a rate that is clearly higher, hardly more bits: quality has its limit.
            let isSaturated = low.map { rate > 1.1 * $0.rate && bits < 1.01 * $0.bits } ?? false
            if isRepeat || isSaturated || bits >= RateSearch.least * most || rate >= highest { return .fits }
            if rate > low?.rate ?? 0 { low = attempt }
        } else {
            if rate <= RateSearch.step { return .hopeless }
            if rate < high?.rate ?? .infinity { high = attempt }
        }
        guard attempts.count < RateSearch.lastAttempt else { return .hopeless }
        var next = whole(guess(after: attempt))
        if isTried(next), let low { next = whole(high.map { sqrt(low.rate * $0.rate) } ?? low.rate + RateSearch.step) }
        if attempts.count >= RateSearch.mostAttempts || isTried(next) {
            // The caller has the bytes of the last attempt only. So the best one is repeated, unless it is the last.
            if low?.rate == rate { return .fits }
            isRepeat = low != nil
            next = low?.rate ?? whole(rate / 2)
        }
        rate = next
        return .again
    }

    private func whole(_ rate: Double) -> Double {
        min(max((rate / RateSearch.step).rounded() * RateSearch.step, RateSearch.step), highest)
    }

    private func isTried(_ rate: Double) -> Bool { attempts.contains { $0.rate == rate } }

    /// The rate that makes the wanted bits, if bits go with a power of the rate: that by which two attempts differ, the
    /// nearest ones below and above if there are both.
    private func guess(after attempt: Attempt) -> Double {
        let near = high == nil ? attempt : low ?? attempt
        let other = low == nil || high == nil ? attempts.dropLast().last : high
        var power = 1.0
        if let other, other.rate != near.rate, other.bits != near.bits, min(other.bits, near.bits) > 0 {
            power = min(max(log(other.bits / near.bits) / log(other.rate / near.rate), 0.3), 2)
        }
        let factor = pow(RateSearch.aim * most / max(near.bits, 1), 1 / power)
        let guess = near.rate * min(max(factor, 0.25), 4)
        guard let high else { return guess }
        // An encoder that has made too many bits twice makes them at lower rates, too: larger and larger steps.
        guard let low else { return guess * pow(0.75, Double(attempts.count - 1)) }
        return low.rate < guess && guess < high.rate ? guess : sqrt(low.rate * high.rate)
    }
}
