import Glibc
import ReelCore
import ReelRandom
import Testing

@Suite("How pictures of a loop come to keep to a size")
struct LoopSearchTests {
    private let size = PictureSize(width: 640, height: 360)

    /// Runs a search over files whose bytes follow the pictures by this rule. Returns what fits, with its bytes, and the
    /// number of attempts.
    private func outcome(
        _ search: LoopSearch, _ bytes: (LoopReduction) -> Int64
    ) -> (best: LoopReduction?, bytes: Int64?, attempts: Int) {
        var (search, attempts) = (search, 0)
        while let next = search.next {
            search.judge(bytes(next))
            attempts += 1
        }
        return (search.best, search.best.map(bytes), attempts)
    }

    @Test("what fits as it is stays as it is")
    func fits() {
        let search = LoopSearch(most: 1000, size: size, rate: 25, colours: 256)
        let found = outcome(search) { _ in 1000 }
        #expect(found.best == LoopReduction(size: size, step: 1, colours: 256) && found.attempts == 1)
    }

    @Test("pictures become smaller first, then fewer, then of fewer colours", arguments: 1...200)
    func reduced(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let growth = Double.random(in: 1.4...2.1, using: &random)
        let whole = Double.random(in: 1e6...1e8, using: &random)
        let most = Int64(whole * Double.random(in: 0.005...1.1, using: &random))
        let noise = Double.random(in: 0.9...1.1, using: &random)
        let rates: [Double] = [10, 25, 29.97, 50]
        let rate = rates.randomElement(using: &random) ?? 25
        func bytes(_ made: LoopReduction) -> Int64 {
            let area = Double(made.size.width * made.size.height) / Double(size.width * size.height)
            let colours = 0.3 + 0.7 * Double(made.colours ?? 256) / 256
            let wobble = made.size.width.isMultiple(of: 4) ? 1 : noise
            return Int64(whole * pow(area, growth / 2) / pow(Double(made.step), 0.85) * colours * wobble)
        }
        let found = outcome(LoopSearch(most: most, size: size, rate: rate, colours: 256), bytes)
        guard let best = found.best, let made = found.bytes else {
            Issue.record("seed \(seed): nothing fits")
            return
        }
        #expect(made <= most && found.attempts <= 12)
        let isWhole = best == LoopReduction(size: size, step: 1, colours: 256)
        // Full sides of a level may need less than is allowed.
        #expect(
            isWhole || Double(made) >= 0.9 * Double(most) || best.size == size,
            "seed \(seed): \(made) of \(most), \(best)")
        #expect(best.size.width.isMultiple(of: 2) && best.size.width <= 640)
        #expect(best.step == 1 || best.size.width <= 640 && rate / Double(best.step) >= 3)
    }

    @Test("what no reduction makes small enough ends with the least that was tried")
    func unreachable() {
        var search = LoopSearch(most: 10, size: size, rate: 25, colours: nil)
        var attempts = 0
        while let next = search.next {
            search.judge(Int64(next.size.width) * 10)
            attempts += 1
        }
        #expect(search.best == nil && attempts <= 12)
        #expect(search.fewest ?? 0 < 6400)
    }
}
