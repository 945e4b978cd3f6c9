internal import Glibc
internal import ReelRandom

extension SplitMix64 {
    /// A factor around 1 whose logarithm is normal with this deviation.
    mutating func logNormal(sigma: Double) -> Double {
        let (a, b) = (Double.random(in: 1e-12..<1, using: &self), Double.random(in: 0..<1, using: &self))
        return exp(sigma * (-2 * log(a)).squareRoot() * cos(2 * .pi * b))
    }
}
