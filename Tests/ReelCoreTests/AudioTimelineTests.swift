import ReelCore
import Testing

/// Times of decoded sound, and reading it backwards.
@Suite("Audio timeline")
struct AudioTimelineTests {
    private typealias Block = AudioTimeline.Block

    /// Blocks of 100 samples at 1000 Hz, each this many milliseconds later than it would be by its samples.
    private func timeline(start: Int64 = 0, late: [Int64]) throws -> AudioTimeline {
        let blocks = late.enumerated().map { place, late in
            Block(time: Rational(start + Int64(place) * 100 + late, 1000), count: 100)
        }
        return try #require(AudioTimeline(blocks: blocks, sampleRate: 1000))
    }

    @Test("continuous sound is one piece")
    func continuous() throws {
        let sound = try timeline(start: 250, late: [0, 0, 0])
        #expect(sound.start == Rational(1, 4))
        #expect(sound.end == Rational(550, 1000))
        #expect(sound.spans(.backwards) == [.sound(sample: 0, count: 300)])
    }

    @Test("jitter that comes back makes no hole, however large")
    func jitter() throws {
        #expect(try timeline(late: [0, 30, 0, 14, -5, 0]).spans(.backwards) == [.sound(sample: 0, count: 600)])
    }

    @Test("a lasting gap of 14 ms is jitter, of 15 ms a hole")
    func threshold() throws {
        #expect(try timeline(late: [0, 14, 14]).count == 300)
        let hole = try timeline(late: [0, 0, 15, 15])
        #expect(hole.count == 415)
        #expect(
            hole.spans(.backwards) == [.sound(sample: 200, count: 200), .silence(15), .sound(sample: 0, count: 200)])
    }

    @Test("a hole too long to be real is closed: the sound after it follows at once")
    func closedHole() throws {
        let blocks = [0, 100, 5_000_000, 5_000_100, 5_000_300].map { Block(time: Rational($0, 1000), count: 100) }
        let sound = try #require(AudioTimeline(blocks: blocks, sampleRate: 1000, longestHole: Rational(600)))
        #expect(sound.closedHoles == 1)
        #expect(sound.count == 600)
        #expect(
            sound.spans(.backwards) == [.sound(sample: 400, count: 100), .silence(100), .sound(sample: 0, count: 400)])
    }

    @Test("times at the limits of 64 bits do not overflow")
    func absurdTimes() throws {
        let seconds = [0, Int64.max, Int64.min, 1].map { Rational($0) }
        let sound = try #require(
            AudioTimeline(blocks: seconds.map { Block(time: $0, count: 1) }, sampleRate: 10_000_000))
        #expect(sound.count == 4)
    }

    @Test("several holes are mirrored to their places")
    func holes() throws {
        let sound = try timeline(late: [0, 40, 40, 100])
        #expect(sound.count == 500)
        #expect(
            sound.spans(.backwards) == [
                .sound(sample: 300, count: 100), .silence(60), .sound(sample: 100, count: 200), .silence(40),
                .sound(sample: 0, count: 100),
            ])
    }

    @Test("a range keeps the samples within it, to the nearest, and the holes")
    func clipped() throws {
        let sound = try timeline(start: 1000, late: [0, 0, 50, 50])
        let clip = try #require(sound.clipped(from: Rational(1150, 1000), to: Rational(1300, 1000)))
        #expect(clip.start == Rational(1150, 1000))
        #expect(clip.end == Rational(1300, 1000))
        #expect(
            clip.spans(.backwards) == [.sound(sample: 200, count: 50), .silence(50), .sound(sample: 150, count: 50)])
        #expect(sound.clipped(from: Rational(2), to: nil) == nil)
        #expect(sound.clipped(from: nil, to: Rational(1)) == nil)
    }

    @Test("silence at the edges of a range stays")
    func clippedInsideAHole() throws {
        let sound = try timeline(late: [0, 50, 50])
        let clip = try #require(sound.clipped(from: Rational(120, 1000), to: nil))
        #expect(clip.spans(.backwards) == [.sound(sample: 100, count: 200), .silence(30)])
    }

    @Test("sound of which nothing decodes has no timeline")
    func empty() { #expect(AudioTimeline(blocks: [], sampleRate: 48000) == nil) }
}

extension AudioTimeline {
    fileprivate func spans(_ direction: Direction) -> [Span] { spans(in: 0..<count, direction) }
}
