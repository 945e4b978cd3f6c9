import Foundation
import ReelCore
import ReelRandom
import Testing

@Suite("Exact time")
struct TimeTests {
    private func numbers(_ random: inout SplitMix64) -> Rational {
        let numerator = Int64.random(in: -1_000_000...1_000_000, using: &random)
        return Rational(numerator, Int64.random(in: 1...100_000, using: &random))
    }

    @Test("Fractions add, subtract, multiply, divide and compare exactly")
    func arithmetic() {
        #expect(Rational(6, -4) == Rational(-3, 2))
        #expect(Rational(-3, 2).denominator == 2)
        #expect(Rational(1, 3) + Rational(1, 6) == Rational(1, 2))
        #expect(Rational(30000, 1001) * Rational(1001, 30000) == Rational(1))
        var random = SplitMix64(seed: 1)
        for _ in 0..<1000 {
            let (a, b, c) = (numbers(&random), numbers(&random), Rational(Int64.random(in: 1...99, using: &random), 7))
            #expect(a + b - b == a)
            #expect(a * c / c == a)
            #expect((a + b) * c == a * c + b * c)
            #expect((a < b) == (a - b < Rational(0)))
            #expect(Rational(a.description) == a)
        }
    }

    @Test("Fractions beyond 64 bits are approximated and do not trap")
    func extremes() {
        let (huge, tiny) = (Rational(.max), Rational(1, .max))
        #expect(Rational(.min, .min) == Rational(1))
        #expect(Rational(.min) == Rational(-.max), "the nearest that has an opposite")
        #expect(huge + huge == huge)
        #expect(Rational(0) - huge - huge == Rational(-.max))
        #expect(tiny * tiny < Rational(1, 1 << 60))
        #expect(abs((Rational(.max, 7) + Rational(1, .max - 1)).approximate / Rational(.max, 7).approximate - 1) < 1e-9)
        #expect(TimeBase(1, .max).ticks(in: huge, rounding: .up) == .max)
        #expect(TimeBase(1, .max).ticks(in: Rational(-.max), rounding: .down) == .min)
    }

    @Test("Fractions are read from text as FFmpeg writes them, and from nothing else")
    func text() throws {
        #expect(Rational("25") == Rational(25))
        #expect(Rational("-30000/1001") == Rational(-30000, 1001))
        for wrong in ["", "/", "1/0", "1/-2", "1/2/3", "a", "1.5", "1/ 2", "9223372036854775808"] {
            #expect(Rational(wrong) == nil, "\(wrong)")
        }
        let json = Data(#"["1/25","0/1","-1/25"]"#.utf8)
        #expect(try JSONDecoder().decode([Rational].self, from: json).count == 3)
        for wrong in [#"["0/1"]"#, #"["-1/25"]"#, #"["x"]"#] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode([TimeBase].self, from: Data(wrong.utf8)) }
        }
    }

    @Test("Conversions round once, as asked for")
    func rounding() {
        let (seconds, halves) = (TimeBase(1, 1), TimeBase(1, 2))
        #expect([-3, -1, 1, 3].map { halves.convert($0, to: seconds, rounding: .down) } == [-2, -1, 0, 1])
        #expect([-3, -1, 1, 3].map { halves.convert($0, to: seconds, rounding: .up) } == [-1, 0, 1, 2])
        #expect([-3, -1, 1, 3].map { halves.convert($0, to: seconds, rounding: .nearest) } == [-2, -1, 1, 2])
        #expect(TimeBase(1, 3).convert(4, to: seconds, rounding: .nearest) == 1)
        #expect(TimeBase(1, 3).convert(-5, to: seconds, rounding: .nearest) == -2)
        #expect(TimeBase(1, 90000).convert(3003, to: TimeBase(1001, 30000), rounding: .down) == 1)
    }

    @Test("30000/1001 frames a second do not drift in ten hours")
    func drift() {
        let frame = TimeBase(1001, 30000)
        let frames: Int64 = 10 * 3600 * 30000 / 1001
        for base in [TimeBase(1, 90000), TimeBase(1, 30000)] {
            let perFrame = frame.convert(1, to: base, rounding: .nearest)
            #expect(frame.convert(frames, to: base, rounding: .nearest) == frames * perFrame)
        }
        // In milliseconds each time is within half a tick, however late, and reading it back finds the frame.
        let milliseconds = TimeBase(1, 1000)
        for place in stride(from: 0, through: frames, by: 997) {
            let rounded = milliseconds.seconds(Timestamp(frame.convert(place, to: milliseconds, rounding: .nearest)))
            let exact = frame.seconds(Timestamp(place))
            #expect(rounded - exact <= Rational(1, 2000))
            #expect(exact - rounded <= Rational(1, 2000))
            #expect(frame.ticks(in: rounded, rounding: .nearest) == place)
        }
    }

    @Test("Mirroring twice is no change, and keeps every duration")
    func mirrored() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<1000 {
            let interval = Interval(
                start: Timestamp(.random(in: -1_000_000...1_000_000, using: &random)),
                duration: Ticks(.random(in: 0...5000, using: &random)))
            let end = Timestamp(.random(in: -1_000_000...2_000_000, using: &random))
            let mirror = interval.mirrored(at: end)
            #expect(mirror.duration == interval.duration)
            #expect(mirror.start.ticks == end.ticks - interval.end.ticks)
            // Mirrored about E, a span's clock starts at 0; mirrored again about E it is where it was.
            #expect(mirror.mirrored(at: end) == interval)
        }
    }

    @Test("A mirrored clip keeps each frame's duration; the source's keeps the order of durations")
    func timelines() {
        let track = Indexes.make(durations: [5, 1, 8, 2], keysAt: [0], timeBase: TimeBase(1, 25), start: 100).video
        func clip(_ timestamps: TimestampMode, _ frames: Range<Int>, of track: VideoTrack) -> Clip {
            let base = track.stream.timeBase
            let (first, last) = (track.frames[frames.lowerBound], track.frames[frames.upperBound - 1])
            return Clip(
                frames: frames, timestamps: timestamps,
                map: TimeMap(
                    .backwards, source: base, output: base, start: first.interval.start, end: last.interval.end))
        }
        let mirror = clip(.mirror, 0..<4, of: track)
        let mirrored = (0..<4).map { mirror.interval(at: $0, in: track) }
        #expect(mirrored.map(\.start.ticks) == [0, 2, 10, 11])
        #expect(mirrored.map(\.duration.count) == [2, 8, 1, 5])
        let source = clip(.source, 0..<4, of: track)
        let kept = (0..<4).map { source.interval(at: $0, in: track) }
        #expect(kept.map(\.start.ticks) == [0, 5, 6, 14])
        #expect(kept.map(\.duration.count) == [5, 1, 8, 2])
        let part = clip(.source, 1..<3, of: track)
        #expect(part.interval(at: 0, in: track) == Interval(start: Timestamp(0), duration: Ticks(1)))
        #expect(part.interval(at: 1, in: track) == Interval(start: Timestamp(1), duration: Ticks(8)))
        #expect(mirror.map.place(Rational(4)) == Rational(116, 25) - Rational(4))
    }
}

extension Interval {
    /// The interval in the reversed video: [E−end, E−start), if the argument `end` is E, the end of the last frame.
    fileprivate func mirrored(at end: Timestamp) -> Interval {
        Interval(start: Timestamp((end - self.end).count), duration: duration)
    }
}
