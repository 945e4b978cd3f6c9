import ReelCore
import ReelRandom
import Testing

@Suite("Clips, their direction, and where they lie in the output")
struct ClipTests {
    private let index = Indexes.make(durations: [3, 1, 4, 1, 5], keysAt: [0], timeBase: TimeBase(1, 30), start: 10)

    private func clip(
        _ direction: Direction, _ frames: Range<Int> = 0..<5, timestamps: TimestampMode = .mirror,
        output: TimeBase = TimeBase(1, 30), offset: Rational = Rational(0)
    ) -> Clip {
        let track = index.video
        return Clip(
            frames: frames, timestamps: timestamps,
            map: TimeMap(
                direction, source: TimeBase(1, 30), output: output,
                start: track.frames[frames.lowerBound].interval.start,
                end: track.frames[frames.upperBound - 1].interval.end, offset: offset))
    }

    private func starts(_ clip: Clip) -> [Int64] {
        (0..<clip.frameCount).map { clip.interval(at: $0, in: index.video).start.ticks }
    }

    @Test("a direction orders frames, elements and fields")
    func directions() {
        #expect(Array(Direction.forwards.order(3..<6)) == [3, 4, 5])
        #expect(Array(Direction.backwards.order(3..<6)) == [5, 4, 3])
        #expect(Array(Direction.backwards.order(3..<3)) == [])
        #expect(
            Direction.forwards.order(["a", "b"]) == ["a", "b"] && Direction.backwards.order(["a", "b"]) == ["b", "a"])
        for order in [FieldOrder.unknown, .progressive, .topFirst, .bottomFirst] {
            #expect(Direction.forwards.fields(order) == order)
            #expect(Direction.backwards.fields(Direction.backwards.fields(order)) == order)
        }
        #expect(Direction.backwards.fields(.topFirst) == .bottomFirst)
        #expect(Direction.backwards.fields(.progressive) == .progressive)
    }

    @Test("a clip shows its frames in its direction, each as long as the source does, from its place in the output on")
    func places() {
        #expect(starts(clip(.forwards)) == [0, 3, 4, 8, 9])
        #expect(starts(clip(.backwards)) == [0, 5, 6, 10, 11])
        #expect(starts(clip(.forwards, 1..<4)) == [0, 1, 5])
        #expect(starts(clip(.backwards, 1..<4, offset: Rational(2))) == [60, 61, 65])
        #expect(clip(.forwards).frame(at: 4) == 4 && clip(.backwards).frame(at: 4) == 0)
    }

    @Test("the source's timestamps in their order are a forward clip's own")
    func sourceTimestamps() {
        #expect(starts(clip(.forwards, timestamps: .source)) == starts(clip(.forwards)))
        #expect(starts(clip(.backwards, timestamps: .source)) == starts(clip(.forwards)))
    }

    @Test("a segment's clock begins with its first frame, whatever the direction and the place in the output")
    func chunkStarts() {
        for offset in [Rational(0), Rational(7, 30)] {
            let (forth, back) = (clip(.forwards, offset: offset), clip(.backwards, offset: offset))
            #expect((1..<4).map { forth.start(at: $0, inChunk: 1..<4, of: index.video).ticks } == [0, 1, 5])
            #expect((1..<4).map { back.start(at: $0, inChunk: 1..<4, of: index.video).ticks } == [0, 1, 5])
        }
    }

    @Test("texts stay with the frames during which they were shown")
    func texts() {
        let span = Rational(13, 30)..<Rational(14, 30)
        #expect(
            clip(.forwards, offset: Rational(1)).place(span, in: index.video) == Rational(33, 30)..<Rational(34, 30))
        #expect(
            clip(.backwards, offset: Rational(1)).place(span, in: index.video) == Rational(40, 30)..<Rational(41, 30))
        #expect(clip(.forwards, 2..<4).place(span, in: index.video) == nil)
    }

    @Test(
        "on a clock of another rate frames meet, each start is the nearest tick, and nothing drifts",
        arguments: 1...40 as ClosedRange<UInt64>)
    func otherClocks(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let bases = [
            TimeBase(1, 24), TimeBase(1001, 30000), TimeBase(1, 12_800), TimeBase(1, 90_000), TimeBase(1, 1000),
        ]
        let durations = (0..<60).map { _ in Int64(1 + random.next() % 9) }
        let source = bases[Int(random.next() % 5)]
        let output = bases[Int(random.next() % 5)]
        let start = Int64(random.next() % 10_000) - 5000
        let track = Indexes.make(durations: durations, keysAt: [0], timeBase: source, start: start).video
        let offset = Rational(Int64(random.next() % 1000), 997)
        for direction in Direction.allCases {
            let clip = Clip(
                frames: 0..<60,
                map: TimeMap(
                    direction, source: source, output: output, start: track.frames[0].interval.start, end: track.end,
                    offset: offset))
            var elapsed = offset
            var end = Timestamp(output.ticks(in: offset, rounding: .nearest))
            for place in 0..<60 {
                let frame = clip.frame(at: place)
                let interval = clip.interval(at: place, in: track)
                #expect(interval.start == end, "frame \(place) meets the one before")
                #expect(interval.start.ticks == output.ticks(in: elapsed, rounding: .nearest))
                elapsed = elapsed + source.seconds(track.frames[frame].interval.duration)
                end = interval.end
            }
            #expect(end.ticks == output.ticks(in: elapsed, rounding: .nearest))
        }
    }

    @Test("times out of range stop at the end of the clock and do not trap")
    func absurdTimes() {
        let (least, most) = (Timestamp(-Timestamp.bound), Timestamp(Timestamp.bound))
        for offset in [Rational(.max), Rational(-.max), Rational(0)] {
            for direction in Direction.allCases {
                let map = TimeMap(
                    direction, source: TimeBase(1_000_000, 1), output: TimeBase(1, 1_000_000), start: least, end: most,
                    offset: offset)
                let place = map.place(Interval(start: Timestamp(5), duration: Ticks(Timestamp.bound - 5)))
                #expect((-Timestamp.bound...Timestamp.bound).contains(place.start.ticks))
                #expect((-Timestamp.bound...Timestamp.bound).contains(place.end.ticks))
            }
        }
    }

    @Test("a plan finds the frame at a place of the output among its clips")
    func framesOfThePlan() {
        var plan = GoldenValues.plan
        plan.clips = [clip(.forwards, 1..<3), clip(.backwards, 0..<5)]
        #expect(plan.frameCount == 7)
        let order = FrameOrder(plan)
        #expect(order.count == 7)
        let found = (0..<7).map { order.frame(at: $0) }
        #expect(found.map(\.clip) == [0, 0, 1, 1, 1, 1, 1].map { plan.clips[$0] })
        #expect(found.map(\.frame) == [1, 2, 4, 3, 2, 1, 0])
    }

    @Test("a plan that names a missing source or clip is refused")
    func dangling() throws {
        let changes: [(inout Plan) -> Void] = [
            { $0.clips[0].source = 1 }, { $0.clips = [] }, { $0.audio[0].source = 1 }, { $0.sources = [] },
            { $0.clips[0].map.output = TimeBase(1, 25) },
            { $0.passes[1] = .video(pass: VideoPass(clips: [1], randomAccessPoint: 1, frames: 3..<5, chunkCount: 1)) },
        ]
        #expect(throws: Never.self) { try Plan.decoded(from: CanonicalJSON.bytes(of: GoldenValues.plan)) }
        for (number, change) in changes.enumerated() {
            var plan = GoldenValues.plan
            change(&plan)
            #expect(throws: DecodingError.self, "change \(number)") {
                try Plan.decoded(from: CanonicalJSON.bytes(of: plan))
            }
        }
    }
}
