import ReelCore
import ReelRandom
import Testing

/// Records, results and plans come from disks and from engines that have read hostile files.
@Suite("Damaged and hostile JSON")
struct HostileJSONTests {
    /// Checks a value that was read: everything derived from it must be computable.
    private func read<T: Decodable>(_ type: T.Type, _ bytes: [UInt8]) -> T? {
        try? CanonicalJSON.value(type, from: bytes)
    }

    @Test("a damaged plan is refused, or can be worked on", arguments: 0..<1500 as Range<UInt64>)
    func plans(seed: UInt64) throws {
        var mutations = JSONMutations(seed: seed)
        let bytes = mutations.damage(try CanonicalJSON.bytes(of: GoldenValues.plan))
        guard let plan = try? Plan.decoded(from: bytes) else { return }
        _ = (plan.mostEncoderThreads, plan.reservedAddresses, plan.clips[0].frames)
        for pass in plan.passes {
            switch pass {
            case .video(let pass): #expect(pass.chunkCount < 1 << 20 ? pass.chunks.count == pass.chunkCount : true)
            case .audio(let place, _): #expect(plan.audio.indices.contains(place))
            }
        }
        let index = Indexes.regular(frames: 8, keysAt: [0, 4])
        guard plan.fits([index]), plan.clips[0].timestamps == .mirror else { return }
        let clip = plan.clips[0]
        for place in clip.places(showing: clip.frames) { _ = clip.interval(at: place, in: index.video) }
    }

    @Test("a damaged result is refused, or its numbers can be added up", arguments: 0..<1500 as Range<UInt64>)
    func results(seed: UInt64) throws {
        var mutations = JSONMutations(seed: seed)
        let bytes = mutations.damage(try CanonicalJSON.bytes(of: GoldenValues.result))
        guard let result = read(PassResult.self, bytes) else { return }
        #expect(result.statistics.framesDecoded >= 0 && result.statistics.framesDecoded <= 1 << 50)
        for record in result.segments {
            #expect(record.bytes >= 0 && record.frames >= 0 && record.packets >= 0)
            #expect(SegmentName(record.name.text) == record.name && !record.name.text.contains("/"))
            #expect(record.name.subject.part == record.content.part)
            _ = record.timeBase.seconds(Timestamp(record.start)) + record.timeBase.seconds(Ticks(Int64(record.frames)))
        }
    }

    @Test("records with numbers that overflow when added up are refused")
    func absurdNumbers() throws {
        let record = try #require(GoldenValues.result.segments.last)
        let text = String(decoding: try CanonicalJSON.bytes(of: record), as: UTF8.self)
        let absurd = [
            ("\"start\":-480", "\"start\":-9223372036854775808"), ("\"frames\":96000", "\"frames\":-1"),
            ("\"bytes\":12345", "\"bytes\":-1"), ("\"packets\":94", "\"packets\":9223372036854775807"),
            ("\"initialPadding\":1024", "\"initialPadding\":-5"), ("\"track\":0", "\"track\":1"),
            ("\"source\":0", "\"source\":-1"),
            ("\"c0a0.5f0b.nut\"", "\"../../c0a0.5f0b.nut\""), ("\"1/48000\"", "\"0/1\""),
        ]
        #expect(read(SegmentRecord.self, Array(text.utf8)) == record)
        for (sound, damaged) in absurd {
            #expect(text.contains(sound), "\(sound) in \(text)")
            #expect(read(SegmentRecord.self, Array(text.replacing(sound, with: damaged).utf8)) == nil, "\(damaged)")
        }
    }
}

/// Damages JSON so that much of it is still JSON. The same seed damages in the same way.
struct JSONMutations {
    private var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    private static let numbers = [
        "0", "-1", "1", "2147483648", "-2147483649", "9223372036854775807", "-9223372036854775808",
        "18446744073709551616", "1e308", "-1e400", "0.5", "null", "\"\"", "[]", "{}", "true",
    ]

    mutating func damage(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            if Int.random(in: 0..<4, using: &random) > 0 { replaceNumber(&bytes) } else { damageByte(&bytes) }
        }
        return bytes
    }

    /// Puts another value in the place of a run of digits, also within strings.
    private mutating func replaceNumber(_ bytes: inout [UInt8]) {
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        let digits = bytes.indices.filter { isDigit(bytes[$0]) }
        guard let place = digits.randomElement(using: &random) else { return }
        let start = bytes[...place].lastIndex { !isDigit($0) }.map { $0 + 1 } ?? 0
        let end = bytes[place...].firstIndex { !isDigit($0) } ?? bytes.count
        bytes.replaceSubrange(start..<end, with: Array((Self.numbers.randomElement(using: &random) ?? "").utf8))
    }

    private mutating func damageByte(_ bytes: inout [UInt8]) {
        guard let place = bytes.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.remove(at: place)
        default: bytes.removeSubrange(place..<min(place + Int.random(in: 1...40, using: &random), bytes.count))
        }
    }
}

/// Numbers that a damaged file or a hostile engine may hold.
@Suite("Hostile numbers")
struct HostileNumberTests {
    @Test("a real number becomes the nearest integer, and no number ends the program")
    func nearest() {
        #expect([2.4, 2.5, -2.5, 0].map(Int64.init(nearest:)) == [2, 3, -3, 0])
        #expect([Double.infinity, 1e300].map(Int64.init(nearest:)) == [1 << 62, 1 << 62])
        #expect(Int64(nearest: -.infinity) == -(1 << 62))
        #expect(Int64(nearest: .nan) == 0)
    }

    @Test("a clock of ticks that no arithmetic can divide is not sound", arguments: [Int64.max, 1_000_000_000_001])
    func clock(ticks: Int64) {
        var target = Plans.target("ffv1").on(TimeBase(1, 1_000_000_000_000))
        #expect(target.isSound)
        target = target.on(TimeBase(1, ticks))
        #expect(!target.isSound)
    }
}
