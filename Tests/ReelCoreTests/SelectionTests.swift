import ReelCore
import Testing

/// The bounds of a range: frames with from ≤ t < to, and the clock that follows.
@Suite("The selected range")
struct SelectionTests {
    /// 30000/1001 frames a second on a clock of 1/30000 s that starts at 2 s.
    private let index = Indexes.make(
        durations: Array(repeating: 1001, count: 300), keysAt: [0, 50, 100, 150, 200, 250],
        timeBase: TimeBase(1, 30000), start: 60000, startTime: Rational(2))

    private func clip(
        from: Position? = nil, to: Position? = nil, lasting duration: Position? = nil
    ) throws(ReelFailure) -> Clip {
        try Plans.make(index, spec: JobSpec(container: .mp4, from: from, to: to, duration: duration)).clips[0]
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
        let clip = try clip(from: .seconds(Rational(100 * 1001, 30000)), to: .seconds(Rational(200 * 1001, 30000)))
        #expect(clip.frames == 100..<200)
        #expect(clip.map.end == Timestamp(60000 + 200 * 1001))
        #expect(clip.audioFrom == Rational(2) + Rational(100 * 1001, 30000))
        #expect(clip.audioTo == Rational(2) + Rational(200 * 1001, 30000))
    }

    @Test("moves by a frame when a boundary moves by the smallest time")
    func nextToBoundaries() throws {
        let instant = Rational(1, 1_000_000_000)
        let (from, to) = (Rational(100 * 1001, 30000), Rational(200 * 1001, 30000))
        #expect(try clip(from: .seconds(from + instant), to: .seconds(to + instant)).frames == 101..<201)
        #expect(try clip(from: .seconds(from - instant), to: .seconds(to - instant)).frames == 100..<200)
    }

    @Test("may begin inside a group of pictures, which is decoded from its RAP")
    func insideGroup() throws {
        let plan = try Plans.make(
            index, slots: 1, spec: JobSpec(container: .mp4, from: .seconds(Rational(11, 2)), to: .seconds(Rational(6))))
        #expect(plan.clips[0].frames == 165..<180)
        #expect(plan.videoPasses == [VideoPass(randomAccessPoint: 3, frames: 165..<180, chunkCount: 1)])
    }

    @Test("that is empty, reversed or beyond the end is wrong usage, and the message says where the video ends")
    func empty() throws {
        let reversed = #expect(throws: ReelFailure.self) {
            try clip(from: .seconds(Rational(5)), to: .seconds(Rational(5)))
        }
        #expect(reversed?.kind == .usage)
        #expect(reversed?.reason == .rangeEmpty(from: .seconds(Rational(5)), to: .seconds(Rational(5))))
        let beyond = #expect(throws: ReelFailure.self) { try clip(from: .seconds(Rational(11))) }
        #expect(beyond?.exitCode == 2)
        #expect(beyond?.reason == .nothingInRange(from: .seconds(Rational(11)), to: nil, end: Rational(1001, 100)))
        let between = #expect(throws: ReelFailure.self) {
            try clip(from: .seconds(Rational(1, 300)), to: .seconds(Rational(1, 100)))
        }
        #expect(between?.kind == .usage)
        #expect(throws: ReelFailure.self) { try clip(from: .seconds(Rational(.max)), to: nil) }
        #expect(try clip(to: .seconds(Rational(.max))).frames == 0..<300)
    }

    @Test("follows a variable rate, and frames before the file's start belong to it unless asked otherwise")
    func variableRate() throws {
        let index = Indexes.make(
            durations: [10, 300, 1, 1, 5000, 40], keysAt: [0], timeBase: TimeBase(1, 1000), start: -5)
        let whole = try Plans.make(index).clips[0]
        #expect(whole.frames == 0..<6)
        let cut = try Plans.make(
            index, spec: JobSpec(container: .mkv, from: .seconds(Rational(0)), to: .seconds(Rational(307, 1000))))
        #expect(cut.clips[0].frames == 1..<4)
        #expect(cut.clips[0].map.end == Timestamp(307))
        #expect(cut.clips[0].interval(at: 0, in: index.video) == Interval(start: Timestamp(0), duration: Ticks(1)))
        #expect(cut.clips[0].interval(at: 2, in: index.video) == Interval(start: Timestamp(2), duration: Ticks(300)))
    }

    @Test("may be given in frames, whose sound goes with them")
    func frames() throws {
        let clip = try clip(from: .frames(30), to: .frames(60))
        #expect(clip.frames == 30..<60)
        #expect(clip.audioFrom == Rational(2) + Rational(30 * 1001, 30000))
        #expect(clip.audioTo == Rational(2) + Rational(60 * 1001, 30000))
        #expect(try self.clip(from: .frames(299), to: .frames(999_999_999)).frames == 299..<300)
        #expect(try self.clip(from: .frames(299), to: .frames(300)).audioTo == nil)
        let beyond = #expect(throws: ReelFailure.self) { try self.clip(from: .frames(300)) }
        #expect(beyond?.reason == .nothingInRange(from: .frames(300), to: nil, end: Rational(1001, 100)))
        let reversed = #expect(throws: ReelFailure.self) { try self.clip(from: .frames(7), to: .frames(7)) }
        #expect(reversed?.reason == .rangeEmpty(from: .frames(7), to: .frames(7)))
    }

    @Test("may have a length instead of an end, in any unit")
    func lengths() throws {
        #expect(try clip(from: .seconds(Rational(1)), lasting: .seconds(Rational(1))).frames == 30..<60)
        #expect(try clip(from: .seconds(Rational(1)), lasting: .frames(12)).frames == 30..<42)
        #expect(try clip(from: .frames(30), lasting: .seconds(Rational(1))).frames == 30..<60)
        #expect(try clip(from: .frames(30), lasting: .frames(12)).frames == 30..<42)
        #expect(try clip(from: .frames(290), lasting: .frames(12)).frames == 290..<300)
        #expect(try clip(lasting: .frames(12)).frames == 0..<12)
        #expect(try clip(lasting: .seconds(Rational(1))).frames == 0..<30)
        let label = try #require(Timecode("00:00:01:12"))
        #expect(try clip(from: .timecode(label), lasting: .timecode(label)).frames == 42..<84)
        let sound = try clip(from: .seconds(Rational(1)), lasting: .seconds(Rational(1)))
        #expect(sound.audioFrom == Rational(3) && sound.audioTo == Rational(4))
        let mixed = try clip(from: .frames(30), lasting: .seconds(Rational(1)))
        #expect(mixed.audioFrom == Rational(2) + Rational(1001, 1000))
        #expect(mixed.audioTo == Rational(3) + Rational(1001, 1000))
    }

    @Test("may be given in timecodes: each label is that of its frame, whatever the container rounds")
    func timecodes() throws {
        let rates = [
            Rational(24), Rational(24000, 1001), Rational(25), Rational(30000, 1001), Rational(50),
            Rational(60000, 1001),
        ]
        for rate in rates {
            // Matroska's clock, and a start that is not the file's.
            let times = (0...4000).map { TimeBase(1, 1000).ticks(in: Rational($0) / rate, rounding: .nearest) }
            var index = Indexes.make(
                durations: zip(times, times.dropFirst()).map { $1 - $0 }, keysAt: [0], timeBase: TimeBase(1, 1000),
                start: 67, startTime: Rational(21, 1000))
            // The average that a container gives is not exact.
            index.video.stream.frameRate = Rational(4_000_000, times[4000])
            for drops in [false, true] where !drops || Timecode.droppingRates.contains(rate) {
                for frame in stride(from: Int64(0), to: 3990, by: 7) {
                    let position = Position.timecode(Timecode(frames: frame, rate: rate, dropsFrames: drops))
                    let spec = JobSpec(container: .mp4, from: position, duration: .frames(3))
                    let shown = try Plans.make(index, spec: spec).clips[0].frames
                    #expect(shown == Int(frame)..<Int(frame) + 3, "\(position) at \(rate)")
                }
            }
        }
    }

    @Test(
        "is refused if no frame has its timecode",
        arguments: [
            ("00:00:01:30", TimecodeFlaw.frameTooHigh(rate: Rational(30000, 1001))),
            ("00:01:00;00", .labelDropped), ("00:01:00;01", .labelDropped),
        ])
    func wrongTimecodes(text: String, flaw: TimecodeFlaw) throws {
        let label = try #require(Timecode(text))
        for (from, to, duration) in [(label, nil, nil), (nil, label, nil), (nil, nil, label)]
            as [(Timecode?, Timecode?, Timecode?)]
        {
            let failure = #expect(throws: ReelFailure.self) {
                try clip(
                    from: from.map(Position.timecode), to: to.map(Position.timecode),
                    lasting: duration.map(Position.timecode))
            }
            #expect(failure?.reason == .timecodeInvalid(timecode: text, flaw: flaw))
            #expect(failure?.exitCode == 2)
        }
    }
}
