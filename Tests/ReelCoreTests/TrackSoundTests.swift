import ReelCore
import ReelRandom
import Testing

/// What is heard of a track in a reversal, as an edit of one piece.
@Suite("The sound of a reversal")
struct TrackSoundTests {
    /// Two seconds of video, of 50 frames.
    private static let index = {
        var index = Indexes.regular(frames: 50, keysAt: [0])
        index.audio = [Indexes.audioTrack(0)]
        return index
    }()

    /// What is heard of sound at 1000 Hz, which begins and lasts as many milliseconds.
    private func heard(
        from start: Int64, lasting count: Int, _ direction: Direction = .backwards, lossless: Bool = false,
        container: Container = .mkv
    ) throws -> TrackSound.Heard? {
        var plan = try Plans.make(Self.index)
        plan.container = container
        (plan.audio[0].direction, plan.audio[0].lossless) = (direction, lossless)
        let block = AudioTimeline.Block(time: Rational(start, 1000), count: count)
        let timeline = try #require(AudioTimeline(blocks: [block], sampleRate: 1000))
        return TrackSound(plan.audio[0], of: plan, [Self.index]).heard(of: timeline)
    }

    /// The spans that are heard, in the output's order.
    private func spans(_ heard: TrackSound.Heard) throws -> [AudioTimeline.Span] {
        let rate = heard.timeline.sampleRate
        return heard.edit.parts(rate: rate).flatMap { part in
            let piece = heard.edit.pieces[part.piece]
            return heard.timeline.spans(in: piece.places(part.samples, on: heard.timeline), piece.direction)
        }
    }

    @Test("all of a track is heard once, from its last sample to its first, whatever its clock and its holes")
    func whole() throws {
        for seed in UInt64(1)...300 {
            var random = SplitMix64(seed: seed)
            var plan = try Plans.make(Self.index)
            plan.audio[0].lossless = true
            let rate = [8000, 44_100, 48_000, 96_000, 37_000].randomElement(using: &random) ?? 1
            let clock = [TimeBase(1, 1000), TimeBase(1, 90_000), TimeBase(1, 1_000_000_000), TimeBase(1, 44_100)]
            let ticks = clock.randomElement(using: &random) ?? TimeBase(1, 1)
            var time = Rational(Int64.random(in: -3...100_000, using: &random)) + ticks.secondsPerTick
            let blocks = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                let block = AudioTimeline.Block(time: time, count: Int.random(in: 1...4096, using: &random))
                let isHole = Int.random(in: 0..<4, using: &random) == 0
                time = time + Rational(Int64(block.count), Int64(rate)) + (isHole ? Rational(1, 3) : Rational(0))
                return block
            }
            let timeline = try #require(AudioTimeline(blocks: blocks, sampleRate: rate))
            for direction in Direction.allCases {
                plan.audio[0].direction = direction
                plan.clips[0].map.direction = direction
                let heard = try #require(TrackSound(plan.audio[0], of: plan, [Self.index]).heard(of: timeline))
                #expect(heard.timeline == timeline && heard.trimmed == nil)
                #expect(try spans(heard) == timeline.spans(in: 0..<timeline.count, direction), "seed \(seed)")
            }
        }
    }

    @Test("sound lies where the mirror puts it, in samples of the output")
    func start() throws {
        // From 0.5 s to 1.5 s of 2 s, at 48 kHz.
        #expect(try heard(from: 500, lasting: 1000)?.start == 24_000)
        #expect(try heard(from: 0, lasting: 3500)?.start == -72_000)
        #expect(try heard(from: 500, lasting: 1000, .forwards)?.start == 24_000)
        #expect(try heard(from: 2000, lasting: 1000, .forwards)?.start == nil)
    }

    @Test("sound that outlasts the video by less than a frame or a packet is cut, unless it must be lossless")
    func overhang() throws {
        let cut = try #require(try heard(from: 0, lasting: 2900))
        #expect(cut.timeline.count == 2000 && cut.trimmed == nil && cut.start == 0)
        #expect(try heard(from: 0, lasting: 2900, lossless: true)?.timeline.count == 2900)
        #expect(try heard(from: 0, lasting: 3100)?.timeline.count == 3100)
    }

    @Test("in a container without timestamps, sound lasts as long as the video, with silence where there is none")
    func paced() throws {
        let late = try #require(try heard(from: 500, lasting: 1000, container: .avi))
        #expect(try spans(late) == [.silence(500), .sound(sample: 0, count: 1000), .silence(500)])
        let long = try #require(try heard(from: 800, lasting: 4000, container: .avi))
        #expect(try spans(long) == [.sound(sample: 0, count: 1200), .silence(800)])
        #expect(long.start == 0 && long.trimmed == Rational(28, 10))
        let kept = try #require(try heard(from: 800, lasting: 4000, .forwards, container: .avi))
        #expect(try spans(kept) == [.silence(800), .sound(sample: 0, count: 1200)])
    }
}
