import ReelCore
import ReelRandom
import Testing

@Suite("Moving pictures that loop: delays and frames that are shown")
struct LoopTests {
    @Test("starts are rounded once, so that delays never add up to more than half a tick of error")
    func delaysOfEvenFrames() {
        let starts = (0..<1000).map { Rational($0 * 1001, 30_000) }
        let end = Rational(1_001_000, 30_000)
        let delays = LoopTraits.delays(starts: starts, end: end, clock: TimeBase(1, 100), least: 2)
        #expect(Set(delays) == [3, 4])
        var sum: Int64 = 0
        for (start, delay) in zip(starts, delays) {
            let off = TimeBase(1, 100).seconds(Ticks(sum)) - start
            #expect(max(off, Rational(0) - off) <= Rational(1, 200))
            sum += delay
        }
        #expect(sum == 3337)
    }

    @Test("no delay is below the least, and neighbours give the time", arguments: 0..<200)
    func delaysOfUnevenFrames(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var starts: [Rational] = []
        var time: Int64 = 0
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            starts.append(Rational(time, 1000))
            time += Int64.random(in: 1...90, using: &random)
        }
        let end = Rational(time, 1000)
        let delays = LoopTraits.delays(starts: starts, end: end, clock: TimeBase(1, 100), least: 2)
        #expect(delays.count == starts.count && delays.allSatisfy { $0 >= 2 })
        let whole = TimeBase(1, 100).ticks(in: end, rounding: .nearest)
        #expect(delays.reduce(0, +) == max(whole, 2 * Int64(starts.count)))
    }

    @Test("one frame in so many is shown, in either direction, for as long as those that it stands for")
    func shownFrames() {
        let clip = Clip(
            frames: 10..<21, step: 4,
            map: TimeMap(
                .backwards, source: TimeBase(1, 1), output: TimeBase(1, 1), start: Timestamp(10), end: Timestamp(21)))
        #expect(clip.frameCount == 3)
        #expect((0..<3).map(clip.frame) == [18, 14, 10])
        #expect(clip.shown(in: 0..<100) == [10, 14, 18])
        #expect(clip.shown(in: 11..<18) == [14])
        #expect(clip.shown(in: 15..<18).isEmpty)
    }

    @Test("the plan of a GIF has the memory to choose its palette, which a limit must allow")
    func paletteMemory() throws {
        let index = Indexes.regular(frames: 300, keysAt: [0])
        func plan(_ container: Container, memory: Int64? = nil) throws -> Plan {
            try Plans.make(
                index, slots: 1, spec: JobSpec(container: container, passFrames: 8, memory: memory),
                video: Plans.target("ffv1", width: 640, height: 360, pixelFormat: "bgr0"))
        }
        // 300 pictures of 640 by 360 may have every colour there is.
        let need = try plan(.gif).need
        #expect(need >= 1 << 29 && need < 3 << 28)
        #expect(try plan(.apng).need < 1 << 28)
        #expect(try plan(.gif, memory: need).need == need)
        let failure = #expect(throws: ReelFailure.self) { try plan(.gif, memory: need - 1) }
        #expect(failure?.reason == .memoryTooSmall(allowed: need - 1, needed: need, copies: false))
    }

    @Test(
        "the memory of a pass suffices for the assembly of a WebP", arguments: [(64, 36), (1920, 1080), (7680, 4320)])
    func encoderMemory(width: Int, height: Int) throws {
        let plan = try Plans.make(
            Indexes.regular(frames: 30, keysAt: [0]), slots: 1, spec: JobSpec(container: .webp, passFrames: 3),
            video: Plans.target("ffv1", width: width, height: height, pixelFormat: "bgr0"))
        // Of noise without loss, an assembly with libwebp 1.2.4 took 47 bytes for each pixel, beside 91 MB.
        #expect(plan.need >= (91 << 20) + Int64(64 * width * height))
    }

    @Test(
        "a picture that is shown for longer than the format can say is refused",
        arguments: [(.gif, 655), (.apng, 65), (.webp, 16_777)] as [(Container, Int)])
    func longPicture(container: Container, most: Int) throws {
        let index = Indexes.regular(frames: 30, keysAt: [0])
        func plan(gap: Rational) throws -> Plan {
            let spec = JobSpec(container: container, edit: Edit(clips: [EditClip(play: .forward), .gap(gap)]))
            return try Planner(slots: 1).plan(
                PlanInput(
                    indexes: [index], indexHashes: [""], spec: spec,
                    video: Plans.target("ffv1").on(try spec.clock(of: [index]))))
        }
        #expect(try plan(gap: Rational(Int64(most))).frameCount == 31)
        let length = Rational(Int64(most)) + Rational(1, 100)
        let failure = #expect(throws: ReelFailure.self) { try plan(gap: length) }
        let end = index.video.stream.timeBase.seconds(index.video.frames[29].interval.end)
        #expect(
            failure?.reason == .pictureTooLong(time: end, length: length, container: container, most: most))
    }

    @Test("a size is two sides", arguments: ["640", "640x", "x360", "1x360", "640x360x2", "-640x360", "a", "20000x2"])
    func noSize(text: String) { #expect(PictureSize(text) == nil) }

    @Test func size() { #expect(PictureSize("640x360") == PictureSize(width: 640, height: 360)) }
}
