import ReelCore
import ReelRandom
import Testing

/// Edits of sources with different constant rates, in an output that has one.
@Suite("One rate for several sources")
struct CommonRateTests {
    private let index25 = Indexes.regular(frames: 50, keysAt: [0, 20], rate: Rational(25))
    private let index30 = Indexes.regular(frames: 60, keysAt: [0], rate: Rational(30))
    private let clips = [EditClip(play: .forward), EditClip(source: 1, play: .forward)]

    private func rate(
        _ indexes: [SourceIndex], _ clips: [EditClip], _ container: Container = .mov, mostFrames: Rational? = nil,
        lossless: Bool = false
    ) -> Rational? {
        JobSpec(container: container, lossless: lossless, edit: Edit(clips: clips), mostFrames: mostFrames)
            .commonRate(of: indexes)
    }

    private func plan(
        _ indexes: [SourceIndex], _ clips: [EditClip], mostFrames: Rational? = nil, passFrames: Int? = nil
    ) throws -> Plan {
        let spec = JobSpec(
            container: .mov, edit: Edit(clips: clips), mostFrames: mostFrames, passFrames: passFrames)
        let plan = try Planner(slots: 2).plan(
            PlanInput(
                indexes: indexes, indexHashes: indexes.map { _ in "" }, spec: spec,
                video: Plans.target().on(try spec.clock(of: indexes))))
        #expect(plan.fits(indexes))
        #expect(try Plan.decoded(from: CanonicalJSON.bytes(of: plan)) == plan)
        return plan
    }

    /// The frames that the output shows, each as its source and its place there.
    private func shown(_ plan: Plan) -> [[Int]] {
        let order = FrameOrder(plan)
        return (0..<order.count).map { place in
            let (clip, frame) = order.frame(at: place)
            return [clip.source, frame]
        }
    }

    @Test("it is the highest, or what is asked for; sources of one rate, or of varying ones, keep their times")
    func rates() {
        let both = [index25, index30]
        #expect(rate(both, clips) == Rational(30) && rate(both, clips.reversed()) == Rational(30))
        #expect(rate(both, clips, mostFrames: Rational(25)) == Rational(25))
        #expect(rate(both, clips, mostFrames: Rational(24)) == Rational(24))
        #expect(rate(both, clips, mostFrames: Rational(60)) == Rational(30))
        #expect(rate([index25, index25], clips) == nil)
        #expect(rate(both, [clips[0]]) == nil && rate(both, [clips[1], .gap(Rational(1))]) == nil)
        // A source of which a still alone is shown.
        #expect(rate(both, [clips[0], EditClip(source: 1, play: .forward, still: Rational(1))]) == nil)
        #expect(rate(both, clips, .webm) == nil && rate(both, clips, .gif) == nil)
        #expect(rate(both, clips, .mkv, lossless: true) == nil)
        let varying = Indexes.make(durations: [3, 9, 4, 8, 3], keysAt: [0], timeBase: TimeBase(1, 90))
        #expect(rate([index25, varying], clips) == nil)
        #expect(JobSpec(container: .mov).commonRate(of: [index25]) == nil)
    }

    @Test("a segment may show a frame several times")
    func repeatedFrames() throws {
        let record = SegmentRecord(
            content: SegmentContent(part: .video(frames: 0..<25), times: "aa", target: "bb"), clip: 0, token: "7e",
            frames: 30, packets: 30, bytes: 1, checksum: "cc", timeBase: TimeBase(1, 30), reorderDepth: 0,
            extradataHash: "dd")
        #expect(try CanonicalJSON.value(SegmentRecord.self, from: CanonicalJSON.bytes(of: record)) == record)
    }

    @Test("a rate is that of film and television which rounded times stand for")
    func roundedClocks() {
        func rate(_ durations: [Int64], _ clock: TimeBase) -> Rational? {
            Indexes.make(durations: durations, keysAt: [0], timeBase: clock).video.constantRate
        }
        let times: [Int64] = (0...300).map { $0 * 1001 / 30 }
        let milliseconds = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(rate(milliseconds, TimeBase(1, 1000)) == Rational(30_000, 1001))
        #expect(rate(Array(repeating: 40, count: 9) + [700], TimeBase(1, 1000)) == Rational(25))
        #expect(rate([40, 40, 80, 40], TimeBase(1, 1000)) == nil)
        #expect(rate([40], TimeBase(1, 1000)) == nil)
    }

    @Test("a slower source shows some pictures twice, a faster one leaves some out, in either direction")
    func pictures() throws {
        func frames(_ clip: EditClip, _ most: Int64?) throws -> [Int] {
            let all = try shown(
                plan([index25, index30], [clip, clips[1 - (clip.source ?? 0)]], mostFrames: most.map { Rational($0) }))
            return all.filter { $0[0] == clip.source }.map { $0[1] }
        }
        let forth = try frames(EditClip(to: .seconds(Rational(2, 5)), play: .forward), nil)
        #expect(forth == [0, 1, 2, 2, 3, 4, 5, 6, 7, 7, 8, 9])
        let back = try frames(EditClip(to: .seconds(Rational(2, 5)), play: .reverse), nil)
        #expect(back == [9, 8, 7, 7, 6, 5, 4, 3, 2, 2, 1, 0])
        let fewer = try frames(EditClip(source: 1, to: .seconds(Rational(2, 5)), play: .forward), 25)
        #expect(fewer == [0, 1, 3, 4, 5, 6, 7, 9, 10, 11])
        #expect(try frames(EditClip(source: 1, play: .forward), nil) == Array(0..<60))
        #expect(
            try frames(EditClip(source: 1, to: .seconds(Rational(1, 5)), play: .forward, speed: Rational(2)), nil) == [
                1, 3, 5,
            ])
    }

    @Test(
        "each frame shows what is due in its middle, frames meet, and chunks have each once",
        arguments: 1...60 as ClosedRange<UInt64>)
    func randomEdits(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let rates = [Rational(24_000, 1001), Rational(25), Rational(30_000, 1001), Rational(30), Rational(60)].shuffled(
            using: &random)
        let indexes = rates.prefix(3).map { Indexes.regular(frames: 120, keysAt: [0, 50], rate: $0) }
        var edit: [EditClip] = [EditClip(play: .forward), EditClip(source: 1, to: .frames(1), play: .forward)]
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let from = Int64.random(in: 0..<110, using: &random)
            edit.append(
                EditClip(
                    source: Int.random(in: 0..<3, using: &random), from: .frames(from),
                    to: .frames(Int64.random(in: from + 1...120, using: &random)),
                    play: Play.allCases.randomElement(using: &random) ?? .forward,
                    times: Int.random(in: 1...2, using: &random),
                    speed: [Rational(1), Rational(3, 2), Rational(2, 5)].randomElement(using: &random) ?? Rational(1)))
            if Bool.random(using: &random) {
                edit.append(.gap(Rational(Int64.random(in: 1...2000, using: &random), 1000)))
            }
        }
        let most = Bool.random(using: &random) ? Rational(24) : nil
        let plan = try plan(indexes, edit, mostFrames: most, passFrames: 11)
        let rate = try #require(
            JobSpec(container: .mov, edit: Edit(clips: edit), mostFrames: most).commonRate(of: indexes))
        #expect(plan.video.format.timeBase == TimeBase(secondsPerTick: Rational(1) / rate))
        let order = FrameOrder(plan)
        let tracks = indexes.map(\.video)
        let length = plan.clips.map { $0.map.offset + $0.map.duration }.max() ?? Rational(0)
        #expect((Rational(Int64(order.count)) - length * rate).approximate.magnitude <= 0.5)
        #expect(plan.end(in: indexes).ticks == Int64(order.count))
        for place in 0..<order.count {
            #expect(
                order.interval(at: place, in: tracks) == Interval(start: Timestamp(Int64(place)), duration: Ticks(1)))
            let (clip, frame) = order.frame(at: place)
            let middle = Rational(Int64(2 * place + 1), 2) / rate
            let inside = clip.map.offset...clip.map.offset + clip.map.duration ~= middle
            guard inside, clip.rangeCount > 1 else { continue }
            let clock = clip.map.source
            let span = tracks[clip.source].frames[frame].interval
            let ends = [clip.map.place(clock.seconds(span.start)), clip.map.place(clock.seconds(span.end))].sorted()
            #expect(ends[0] <= middle && middle <= ends[1], "frame \(place)")
        }
        for (clip, maker) in zip(plan.clips, plan.makers) where clip.frameCount > 0 {
            var chunks: [Range<Int>] = []
            for case .video(let pass) in plan.passes where pass.clips.contains(maker) {
                chunks += plan.chunks(of: pass, in: maker)
            }
            let places = chunks.map { plan.clips[maker].places(showing: $0) }.sorted { $0.lowerBound < $1.lowerBound }
            #expect(places.flatMap { Array($0) } == Array(0..<clip.frameCount))
            for chunk in chunks {
                for frame in chunk {
                    let own = clip.places(showing: frame..<frame + 1)
                    #expect(own.allSatisfy { clip.frame(at: $0) == frame })
                }
            }
        }
    }
}
