internal import Glibc

/// SplitMix64: the same seed gives the same numbers anywhere.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A factor around 1 whose logarithm is normal with this deviation.
    mutating func logNormal(sigma: Double) -> Double {
        let (a, b) = (Double.random(in: 1e-12..<1, using: &self), Double.random(in: 0..<1, using: &self))
        return exp(sigma * (-2 * log(a)).squareRoot() * cos(2 * .pi * b))
    }
}
