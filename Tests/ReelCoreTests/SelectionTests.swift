import ReelCore
import Testing

/// `--from` and `--to`: frames with from ≤ t < to, and the clock that follows.
@Suite("The selected range")
struct SelectionTests {
    /// 30000/1001 frames a second on a clock of 1/30000 s that starts at 2 s.
    private let index = Indexes.make(
        durations: Array(repeating: 1001, count: 300), keysAt: [0, 50, 100, 150, 200, 250],
        timeBase: TimeBase(1, 30000), start: 60000, startTime: Rational(2))

    private func clip(from: Rational? = nil, to: Rational? = nil) throws(ReelFailure) -> Clip {
        try Plans.make(index, spec: JobSpec(container: .mp4, from: from, to: to)).clips[0]
    }

    @Test("is everything unless asked otherwise")
    func everything() throws {
        let clip = try clip()
        #expect(clip.frames == 0..<300)
        #expect(clip.map.end == Timestamp(60000 + 300 * 1001))
        #expect(clip.audioFrom == nil)
        #expect(clip.audioTo == nil)
    }

    @Test("takes the frame that begins at --from and leaves the one that begins at --to")
    func boundaries() throws {
        let clip = try clip(from: Rational(100 * 1001, 30000), to: Rational(200 * 1001, 30000))
        #expect(clip.frames == 100..<200)
        #expect(clip.map.end == Timestamp(60000 + 200 * 1001))
        #expect(clip.audioFrom == Rational(2) + Rational(100 * 1001, 30000))
        #expect(clip.audioTo == Rational(2) + Rational(200 * 1001, 30000))
    }

    @Test("moves by a frame when a boundary moves by the smallest time")
    func nextToBoundaries() throws {
        let instant = Rational(1, 1_000_000_000)
        let (from, to) = (Rational(100 * 1001, 30000), Rational(200 * 1001, 30000))
        #expect(try clip(from: from + instant, to: to + instant).frames == 101..<201)
        #expect(try clip(from: from - instant, to: to - instant).frames == 100..<200)
    }

    @Test("may begin inside a group of pictures, which is decoded from its RAP")
    func insideGroup() throws {
        let plan = try Plans.make(
            index, slots: 1, spec: JobSpec(container: .mp4, from: Rational(11, 2), to: Rational(6)))
        #expect(plan.clips[0].frames == 165..<180)
        #expect(plan.videoPasses == [VideoPass(randomAccessPoint: 3, frames: 165..<180, chunkCount: 1)])
    }

    @Test("that is empty, reversed or beyond the end is wrong usage, and the message says where the video ends")
    func empty() throws {
        let reversed = #expect(throws: ReelFailure.self) { try clip(from: Rational(5), to: Rational(5)) }
        #expect(reversed?.kind == .usage)
        #expect(reversed?.reason == .rangeEmpty(from: Rational(5), to: Rational(5)))
        let beyond = #expect(throws: ReelFailure.self) { try clip(from: Rational(11)) }
        #expect(beyond?.exitCode == 2)
        #expect(beyond?.reason == .nothingInRange(from: Rational(11), to: nil, end: Rational(1001, 100)))
        let between = #expect(throws: ReelFailure.self) { try clip(from: Rational(1, 300), to: Rational(1, 100)) }
        #expect(between?.kind == .usage)
        #expect(throws: ReelFailure.self) { try clip(from: Rational(.max), to: nil) }
        #expect(try clip(to: Rational(.max)).frames == 0..<300)
    }

    @Test("follows a variable rate, and frames before the file's start belong to it unless asked otherwise")
    func variableRate() throws {
        let index = Indexes.make(
            durations: [10, 300, 1, 1, 5000, 40], keysAt: [0], timeBase: TimeBase(1, 1000), start: -5)
        let whole = try Plans.make(index).clips[0]
        #expect(whole.frames == 0..<6)
        let cut = try Plans.make(index, spec: JobSpec(container: .mkv, from: Rational(0), to: Rational(307, 1000)))
        #expect(cut.clips[0].frames == 1..<4)
        #expect(cut.clips[0].map.end == Timestamp(307))
        #expect(cut.clips[0].interval(of: 3, in: index.video) == Interval(start: Timestamp(0), duration: Ticks(1)))
        #expect(cut.clips[0].interval(of: 1, in: index.video) == Interval(start: Timestamp(2), duration: Ticks(300)))
    }
}
