import Foundation
import ReelCore
import ReelRandom
import Testing

@Suite("The size of an output")
struct SizeTests {
    /// An encoder that misses its rate, in another way for each chunk and a little at each rate.
    private struct ModelEncoder {
        let seconds: Double
        let bias: Double
        /// By which power of the rate its bits grow, from those at `aim` on.
        let growth: Double
        let aim: Double
        /// It makes no fewer bits and no more.
        let floor: Double
        let ceiling: Double

        func bits(at rate: Double) -> Double {
            let jitter = 1 + 0.01 * sin(rate / 700)
            return min(max(aim * seconds * pow(rate / aim, growth) * bias * jitter, floor), ceiling)
        }
    }

    @Test("a search ends with nearly as many bits as there may be, and never with more")
    func search() throws {
        var (found, attempts) = (0, 0)
        var filled: [Double] = []
        for seed in UInt64(1)...2000 {
            var random = SplitMix64(seed: seed)
            let seconds = Double.random(in: 0.04...20, using: &random)
            let most = seconds * Double.random(in: 20_000...20_000_000, using: &random)
            let isHopeless = seed % 7 == 0
            let encoder = ModelEncoder(
                seconds: seconds, bias: Double.random(in: 0.5...2, using: &random),
                growth: Double.random(in: 0.3...1.1, using: &random), aim: most / seconds,
                floor: most * Double.random(in: isHopeless ? 1.01...1.2 : 0...0.4, using: &random),
                ceiling: most * Double.random(in: 1.2...9, using: &random) * (seed % 4 == 0 ? 0.2 : 1))
            var search = RateSearch(most: most, from: 0.985 * most / seconds, highest: 100 * most / seconds)
            var verdict = ChunkSearch.Verdict.again
            var (bits, tries) = (0.0, 0)
            while true {
                bits = encoder.bits(at: search.rate)
                verdict = search.judge(bits)
                tries += 1
                guard case .again = verdict else { break }
            }
            switch verdict {
            case .hopeless: #expect(isHopeless && encoder.ceiling > most, "seed \(seed)")
            case .fits:
                (found, attempts) = (found + 1, attempts + tries)
                #expect(!isHopeless || encoder.ceiling <= most, "seed \(seed)")
                #expect(bits <= most, "seed \(seed)")
                #expect(bits >= 0.65 * min(most, encoder.ceiling), "seed \(seed)")
                filled.append(bits / min(most, encoder.ceiling))
            case .again: break
            }
        }
        #expect(found > 1600 && attempts < 4 * found, "\(attempts) attempts for \(found)")
        filled.sort()
        #expect(filled[filled.count / 2] > 0.985 && filled[filled.count / 20] > 0.97)
    }

    @Test("a quality that makes many more bits than the source is made coarser until there are about as many")
    func quality() throws {
        var attempts = 0
        for seed in UInt64(1)...2000 {
            var random = SplitMix64(seed: seed)
            let wanted = Double.random(in: 1000...10_000_000, using: &random)
            let finest = wanted * Double.random(in: 0.1...8, using: &random)
            let halving = Double.random(in: 4...9, using: &random)
            var search = QualitySearch(like: wanted, in: 18...36, halving: 6)
            func bits(_ quality: Double) -> Double {
                finest * exp2((18 - quality) / halving) * (1 + 0.02 * sin(quality))
            }
            var tries = 0
            // The first packets promise more or less than there will be.
            if search.abandons(at: bits(18) * Double.random(in: 0.8...1.25, using: &random)) { tries += 1 }
            repeat { tries += 1 } while search.judge(bits(search.quality)) == .again
            attempts += tries
            let ratio = bits(search.quality) / wanted
            #expect(tries <= 3 && (18...36).contains(search.quality), "seed \(seed)")
            #expect(ratio <= 1.3 || search.quality == 36, "seed \(seed): \(ratio)")
            #expect(ratio >= 0.6 || search.quality == 18, "seed \(seed): \(ratio)")
            if finest < 1.1 * wanted { #expect(search.quality == 18, "seed \(seed)") }
        }
        #expect(attempts < 5000)
    }

    private let index = Indexes.regular(frames: 1000, keysAt: [0, 250, 500, 750], rate: Rational(30000, 1001))

    @Test("is shared among the chunks by what they have in the source")
    func shares() throws {
        let spec = JobSpec(container: .mp4, mostBytes: 400_000)
        let plan = try Plans.make(index, spec: spec)
        guard case .share(let share)? = plan.video.encoding?.bitrate else {
            Issue.record("\(String(describing: plan.video.encoding?.bitrate))")
            return
        }
        #expect(plan.mostBytes == 400_000)
        let bits = plan.passes.reduce(0.0) { sum, pass in
            guard case .video(let pass) = pass else { return sum }
            return plan.chunks(of: pass, in: 0).reduce(sum) { $0 + index.video.bitsFromKey(of: $1) }
        }
        let pictures = share.approximate * bits / 8
        #expect(pictures < 400_000 && pictures > 0.9 * 400_000, "\(pictures)")
        // The plan can be stored and read.
        let bytes = try CanonicalJSON.bytes(of: plan)
        #expect(try Plan.decoded(from: bytes) == plan)
    }

    @Test("pictures that are to have no more bits than the source's do not grow into a size that is larger")
    func likeSource() throws {
        func share(_ most: Int64) throws -> VideoRate? {
            let spec = JobSpec(container: .mp4, bitrate: .source, mostBytes: most)
            return try Plans.make(index, spec: spec).video.encoding?.bitrate
        }
        #expect(try share(1 << 40) == .share(Rational(1)))
        guard case .share(let small)? = try share(400_000) else {
            Issue.record("no share")
            return
        }
        let alone = try Plans.make(index, spec: JobSpec(container: .mp4, mostBytes: 400_000)).video.encoding?.bitrate
        #expect(alone == .share(small) && small < Rational(1))
    }

    @Test("that cannot be reached is refused, and the size that is named is accepted")
    func refused() throws {
        let failure = #expect(throws: ReelFailure.self) {
            try Plans.make(index, spec: JobSpec(container: .mp4, mostBytes: 1000))
        }
        #expect(failure?.exitCode == 2)
        guard case .sizeUnreachable(1000, let least) = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(try Plans.make(index, spec: JobSpec(container: .mp4, mostBytes: least)).mostBytes == least)
    }

    @Test("a chunk without a key frame of the source counts as if it began with one")
    func chunksFromKeys() {
        let keyed = index.video.bitsFromKey(of: 0..<10)
        let other = index.video.bitsFromKey(of: 3..<13)
        // The key frames have 1000, 1019, 1038 and 1057 bytes, the others 1000 to 1076.
        #expect(keyed == 8 * Double((0..<10).reduce(0) { $0 + 1000 + $1 }))
        #expect(other == 8 * Double((3..<13).reduce(0) { $0 + 1000 + $1 }))
        var track = index.video
        track.packets[0].size = 9000
        #expect(track.bitsFromKey(of: 3..<13) == other + 8 * Double(9000 - 1003))
        #expect(track.bitsFromKey(of: 250..<260) == index.video.bitsFromKey(of: 250..<260))
    }
}
