import ReelCore
import ReelRandom
import Testing

@Suite("The binary index")
struct SourceIndexBinaryTests {
    @Test("is read back as it was written, and equal indexes give equal bytes", arguments: 0..<200 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let index = Indexes.random(using: &random)
        let bytes = index.encoded()
        #expect(try SourceIndex(decoding: bytes) == index)
        #expect(bytes == index.encoded())
    }

    @Test("holds an empty track and extreme numbers")
    func extremes() throws {
        var index = Indexes.regular(frames: 0, keysAt: [])
        #expect(try SourceIndex(decoding: index.encoded()) == index)
        index = Indexes.make(
            durations: [1 << 60, 0], keysAt: [0], timeBase: TimeBase(1, 1_000_000_000_000), start: -(1 << 60),
            startTime: Rational(.min + 1, .max))
        index.fileSize = .max
        index.video.packets[0].position = .max
        index.video.packets[1].position = -1
        index.video.packets[1].size = .max
        index.video.stream.displayMatrix = [.min, 0, .max]
        #expect(try SourceIndex(decoding: index.encoded()) == index)
    }

    @Test("spends no bytes on durations that reach to the next frame")
    func durationsAreFree() {
        let regular = Indexes.regular(frames: 10_000, keysAt: [0])
        var gapped = regular
        for place in stride(from: 0, to: 10_000, by: 2) { gapped.video.frames[place].interval.duration.count -= 1 }
        #expect(regular.encoded().count < 10_000 * 10 + 1000)
        #expect(gapped.encoded().count > regular.encoded().count + 5000)
    }

    @Test("refuses every damaged byte and every shorter file", arguments: 0..<500 as Range<UInt64>)
    func corruption(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var bytes = Indexes.random(using: &random, frames: 40).encoded()
        if seed.isMultiple(of: 5) {
            bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
        } else {
            let place = Int.random(in: bytes.indices, using: &random)
            bytes[place] ^= UInt8.random(in: 1...255, using: &random)
        }
        let failure = #expect(throws: ReelFailure.self) { try SourceIndex(decoding: bytes) }
        #expect(failure?.kind == .job)
        let reason = try #require(failure?.reason)
        switch reason {
        case .indexDamaged, .indexVersion: break
        default: Issue.record("\(reason)")
        }
    }

    @Test("never traps on damage that the checksum does not reveal", arguments: 0..<500 as Range<UInt64>)
    func resealedCorruption(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var bytes = Array(Indexes.random(using: &random, frames: 40).encoded().dropLast(8))
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 8..<bytes.count, using: &random)
            bytes[place] =
                [0x00, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)]
                .randomElement(using: &random) ?? 0
        }
        if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count - 8, using: &random)) }
        do {
            let index = try SourceIndex(decoding: seal(bytes))
            // What is accepted is an index that survives another round.
            #expect(try SourceIndex(decoding: index.encoded()) == index)
            #expect(index.video.frames.allSatisfy { index.video.packets.indices.contains(Int($0.packet)) })
        } catch let failure {
            #expect(failure.kind == .job)
        }
    }

    @Test("allocates no more than the file can fill")
    func hugeCount() {
        let parameters = Array(Indexes.regular(frames: 0, keysAt: []).encoded().dropLast(8 + 4))
        let count: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
        let failure = #expect(throws: ReelFailure.self) { try SourceIndex(decoding: seal(parameters + count)) }
        #expect(failure.flatMap { flaw(of: $0) } == .count)
    }

    @Test("names a version that it cannot read")
    func otherVersion() {
        var bytes = Indexes.regular(frames: 1, keysAt: [0]).encoded()
        bytes[7] = 9
        let failure = #expect(throws: ReelFailure.self) { try SourceIndex(decoding: bytes) }
        guard case .indexVersion(9, _) = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(throws: ReelFailure.self) { try SourceIndex(decoding: []) }
        #expect(throws: ReelFailure.self) { try SourceIndex(decoding: Array("REELIDX".utf8)) }
    }

    private func flaw(of failure: ReelFailure) -> IndexFlaw? {
        if case .indexDamaged(_, let flaw) = failure.reason { flaw } else { nil }
    }

    /// Appends the checksum that `encoded()` would: FNV-1a, 64 bits, low byte first.
    private func seal(_ bytes: [UInt8]) -> [UInt8] {
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return bytes + (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * UInt64($0))) }
    }
}
