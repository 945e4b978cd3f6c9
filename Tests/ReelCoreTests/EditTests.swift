import ReelCore
import ReelRandom
import Testing

/// Clips that are played forth and back, and repeated: which frames and which moments of the sound come when.
@Suite("Edits")
struct EditTests {
    /// A frame as the output shows it, by the rules of the user's manual: in frames alone, without clips.
    private struct Shown: Equatable {
        var frame: Int
        var start: Rational
        var direction: Direction
        /// The sound turns in the middle of the frame: it has the other direction in the second half, or in the first.
        var turnsAfter = false
        var turnsBefore = false
    }

    private static func expected(_ edit: Edit, _ index: SourceIndex, _ ranges: [Range<Int>]) -> [Shown] {
        var shown: [Shown] = []
        var time = Rational(0)
        func show(_ frame: Int, _ direction: Direction) {
            shown.append(Shown(frame: frame, start: time, direction: direction))
            time = time + index.video.stream.timeBase.seconds(index.video.frames[frame].interval.duration)
        }
        for (clip, range) in zip(edit.clips, ranges) {
            for time in 0..<clip.times {
                let before = shown.count
                if clip.play != .reverse { for frame in range { show(frame, .forwards) } }
                let last = shown.count - 1
                switch (clip.play, edit.turn) {
                case (.forward, _): break
                case (.pingPong, .once):
                    for frame in range.dropFirst().dropLast().reversed() { show(frame, .backwards) }
                    if time > 0 { shown[before].turnsBefore = true }
                    // The last repeat of two frames or one is followed by no other span of its clip.
                    if range.count > 2 || time + 1 < clip.times { shown[last].turnsAfter = true }
                default: for frame in range.reversed() { show(frame, .backwards) }
                }
            }
        }
        return shown
    }

    private struct Case {
        var index: SourceIndex
        var edit: Edit
        var ranges: [Range<Int>]

        init(seed: UInt64) {
            var random = SplitMix64(seed: seed)
            let count = Int.random(in: 1...60, using: &random)
            let clocks = [TimeBase(1, 12_800), TimeBase(1, 90_000), TimeBase(1001, 30_000), TimeBase(1, 1000)]
            let timeBase = clocks.randomElement(using: &random) ?? TimeBase(1, 25)
            let constant = Bool.random(using: &random)
            let durations = (0..<count).map { _ in constant ? 20 : Int64.random(in: 1...900, using: &random) }
            let keys = [0] + (1..<max(count, 2)).filter { _ in Int.random(in: 0..<8, using: &random) == 0 }
            index = Indexes.make(
                durations: durations, keysAt: keys.filter { $0 < count }, timeBase: timeBase,
                start: Int64.random(in: -500...500, using: &random))
            index.startTime = timeBase.seconds(index.video.frames[0].interval.start)
            edit = Edit(clips: [], turn: Turn.allCases.randomElement(using: &random) ?? .once)
            ranges = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let first = Int.random(in: 0..<count, using: &random)
                let range = first..<Int.random(in: first + 1...count, using: &random)
                let moment = { [index] (frame: Int) in
                    Position.seconds(
                        timeBase.seconds(index.video.frames[frame].interval.start) - index.startTime)
                }
                ranges.append(range)
                edit.clips.append(
                    EditClip(
                        from: moment(first), to: range.upperBound < count ? moment(range.upperBound) : nil,
                        play: Play.allCases.randomElement(using: &random) ?? .reverse,
                        times: Int.random(in: 1...3, using: &random)))
            }
        }

        func plan(passFrames: Int?) throws -> Plan {
            let spec = JobSpec(container: .mkv, edit: edit, passFrames: passFrames)
            return try Plans.make(index, spec: spec)
        }
    }

    @Test("frames come in the order of the clips, each for as long as in the source, and passes make each once")
    func frames() throws {
        for seed in UInt64(1)...400 {
            let made = Case(seed: seed)
            let plan = try made.plan(passFrames: seed % 3 == 0 ? 7 : nil)
            let expected = Self.expected(made.edit, made.index, made.ranges)
            let order = FrameOrder(plan)
            #expect(order.count == expected.count, "seed \(seed)")
            let clock = plan.video.format.timeBase
            var end = Timestamp(0)
            for (place, shown) in expected.enumerated() {
                let (clip, frame) = order.frame(at: place)
                let interval = order.interval(at: place, in: [made.index.video])
                #expect(frame == shown.frame && clip.direction == shown.direction, "seed \(seed), frame \(place)")
                #expect(interval.start == end && clock.seconds(interval.start) == shown.start, "seed \(seed)")
                end = interval.end
            }
            #expect(plan.end(in: [made.index]) == end)

            // Every clip's frames are made once, by passes of the first clip that shows the same.
            var chunks: [Int: [Range<Int>]] = [:]
            for case .video(let pass) in plan.passes {
                for clip in pass.clips { chunks[clip, default: []] += plan.chunks(of: pass, in: clip) }
            }
            for (clip, maker) in plan.makers.enumerated() {
                let made = (chunks[maker] ?? []).sorted { $0.lowerBound < $1.lowerBound }
                #expect(made.flatMap { Array($0) } == Array(plan.clips[clip].frames), "seed \(seed), clip \(clip)")
                #expect(clip == maker || chunks[clip] == nil)
            }
            #expect(try Plan.decoded(from: CanonicalJSON.bytes(of: plan)) == plan)
            #expect(plan.fits([made.index]))
        }
    }

    @Test("forth and back is decoded once, however often it is played")
    func decodedOnce() throws {
        let index = Indexes.regular(frames: 1000, keysAt: Array(stride(from: 0, to: 1000, by: 50)))
        for (turn, times) in [(Turn.once, 1), (.twice, 1), (.once, 500)] {
            let edit = Edit(clips: [EditClip(play: .pingPong, times: times)], turn: turn)
            let plan = try Plans.make(index, slots: 2, spec: JobSpec(container: .mkv, edit: edit))
            let back = turn == .once ? 998 : 1000
            #expect(plan.frameCount == times * (1000 + back))
            #expect(plan.framesToMake == 1000 + back)
            let passes = plan.videoPasses
            #expect(passes.reduce(0) { $0 + $1.frames.count } == 1000)
            #expect(passes.allSatisfy { $0.clips == [0, 1] && $0.windowFrames == nil })
        }
    }

    @Test("sound lies where the video has its moment, and turns in the middle of a frame that is shown once")
    func sound() throws {
        let rate = 48_000
        for seed in UInt64(1)...400 {
            var made = Case(seed: seed)
            made.edit.crossfade = Rational(0)
            let plan = try made.plan(passFrames: nil)
            let track = made.index.video
            let (first, last) = (track.frames[0].interval, track.frames[track.frames.count - 1].interval)
            let clock = track.stream.timeBase
            let length = clock.seconds(last.end - first.start)
            let count = max(TimeBase(1, Int64(rate)).ticks(in: length, rounding: .nearest), 1)
            let block = AudioTimeline.Block(time: clock.seconds(first.start), count: Int(count))
            let timeline = try #require(AudioTimeline(blocks: [block], sampleRate: rate))
            let sound = SoundEdit(plan.clips, tracks: [track])
            let parts = sound.parts(rate: rate).map { Heard($0, of: sound, on: timeline) }
            let end = clock.seconds(plan.end(in: [made.index]))
            #expect(parts.reduce(0) { $0 + $1.count } == TimeBase(1, Int64(rate)).ticks(in: end, rounding: .nearest))
            #expect(parts.allSatisfy { $0.rising == nil && $0.count == Int64($0.heard.count) })

            var starts: [Int64] = [0]
            for part in parts { starts.append(starts[starts.count - 1] + part.count) }
            func heard(at place: Int64) -> Int64 {
                let part = (starts.firstIndex { $0 > place } ?? parts.count) - 1
                let (range, inside) = (parts[part].heard, place - starts[part])
                return parts[part].direction == .forwards ? range.lowerBound + inside : range.upperBound - 1 - inside
            }
            for shown in Self.expected(made.edit, made.index, made.ranges) {
                let interval = track.frames[shown.frame].interval
                let (low, duration) = (clock.seconds(interval.start), clock.seconds(interval.duration))
                // Of frames that are hardly longer than a sample, rounding decides.
                guard duration * Rational(Int64(rate)) > Rational(8) else { continue }
                // A quarter into each half of the frame.
                for (share, isFirst) in [(Rational(1, 4), true), (Rational(3, 4), false)] {
                    var backwards = shown.direction == .backwards
                    // How far into the frame the sound is, from the frame's start in the source.
                    var inside = backwards ? Rational(1) - share : share
                    if shown.turnsBefore, isFirst { (backwards, inside) = (true, Rational(1) - share) }
                    if shown.turnsAfter, !isFirst { (backwards, inside) = (true, Rational(1) - share) }
                    let place = TimeBase(1, Int64(rate)).ticks(in: shown.start + duration * share, rounding: .nearest)
                    let moment = low + duration * inside - clock.seconds(first.start)
                    let wanted = (moment * Rational(Int64(rate))).approximate - (backwards ? 1 : 0)
                    #expect(
                        abs(Double(heard(at: place)) - wanted) <= 1.51,
                        "seed \(seed), frame \(shown.frame) at \(shown.start), \(share)")
                }
            }
        }
    }

    @Test("a crossfade lies around the cut, goes on beyond it, and is no longer than one repeat")
    func crossfades() throws {
        let index = Indexes.regular(frames: 50, keysAt: [0])
        func parts(_ clips: [EditClip], _ crossfade: Rational?) throws -> [Heard] {
            let edit = Edit(clips: clips, crossfade: crossfade)
            let plan = try Plans.make(index, slots: 1, spec: JobSpec(container: .mkv, edit: edit))
            let block = AudioTimeline.Block(time: Rational(0), count: 2000)
            let timeline = try #require(AudioTimeline(blocks: [block], sampleRate: 1000))
            let sound = SoundEdit(plan.clips, tracks: [index.video])
            return sound.parts(rate: 1000).map { Heard($0, of: sound, on: timeline) }
        }
        let range = (from: Position.seconds(Rational(4, 10)), to: Position.seconds(Rational(8, 10)))
        let twice = EditClip(from: range.from, to: range.to, play: .forward, times: 2)
        var made = try parts([twice], Rational(1, 10))
        #expect(made.map(\.count) == [350, 100, 350])
        #expect(made.map(\.heard) == [400..<750, 750..<850, 450..<800])
        #expect(made[1].rising?.heard == 350..<450)
        #expect(abs((made[1].rising?.share ?? 0) - 0.005) < 1e-9 && abs((made[1].rising?.growth ?? 0) - 0.01) < 1e-9)

        // Half a frame by itself, and never longer than a repeat.
        made = try parts([twice], nil)
        #expect(made.map(\.count) == [390, 20, 390])
        made = try parts([twice], Rational(9))
        #expect(made.map(\.count) == [200, 400, 200])

        // Backwards, the sound that goes on is what comes before the range.
        let back = EditClip(from: range.from, to: range.to, play: .reverse)
        made = try parts(
            [back, EditClip(from: .seconds(Rational(0)), to: .seconds(Rational(4, 10)), play: .forward)],
            Rational(1, 10))
        #expect(made.map(\.heard) == [450..<800, 350..<450, 50..<400])
        #expect(made.map(\.direction) == [.backwards, .backwards, .forwards])
        #expect(made[1].rising?.heard == -50..<50)
        #expect(made[1].rising?.direction == .forwards)
    }

    @Test("a timeline gives any range, with silence in holes and beyond its ends")
    func ranges() throws {
        let blocks = [
            AudioTimeline.Block(time: Rational(0), count: 100), AudioTimeline.Block(time: Rational(2, 10), count: 100),
        ]
        let timeline = try #require(AudioTimeline(blocks: blocks, sampleRate: 1000))
        #expect(timeline.spans(in: 50..<60, .forwards) == [.sound(sample: 50, count: 10)])
        #expect(
            timeline.spans(in: -20..<320, .forwards) == [
                .silence(20), .sound(sample: 0, count: 100), .silence(100), .sound(sample: 100, count: 100),
                .silence(20),
            ])
        #expect(timeline.spans(in: 150..<210, .backwards) == [.sound(sample: 100, count: 10), .silence(50)])
        #expect(timeline.spans(in: 400..<410, .forwards) == [.silence(10)])
        #expect(timeline.spans(in: -10..<0, .backwards) == [.silence(10)])
    }

    @Test("a range that is reversed once is the same job, however it is asked for")
    func normalForm() {
        let clip = EditClip(from: .seconds(Rational(1)), to: .seconds(Rational(2)), play: .reverse)
        let spec = JobSpec(container: .mkv, edit: Edit(clips: [clip]))
        #expect(spec == JobSpec(container: .mkv, from: .seconds(Rational(1)), to: .seconds(Rational(2))))
        var twice = clip
        twice.times = 2
        #expect(JobSpec(container: .mkv, edit: Edit(clips: [twice])).edit?.clips == [twice])
    }

    @Test("a range without frames is refused", arguments: [(5, nil), (1, 1), (2, 1)] as [(Int64, Int64?)])
    func emptyRanges(range: (from: Int64, to: Int64?)) throws {
        let index = Indexes.regular(frames: 50, keysAt: [0])
        let clip = EditClip(
            from: .seconds(Rational(range.from)), to: range.to.map { .seconds(Rational($0)) }, play: .forward)
        let spec = JobSpec(container: .mkv, edit: Edit(clips: [clip]))
        let failure = #expect(throws: ReelFailure.self) { try Plans.make(index, slots: 1, spec: spec) }
        #expect(failure?.kind == .usage)
    }
}

/// A part of an edit's sound on the timeline of its only source.
private struct Heard {
    let count: Int64
    let heard: Range<Int64>
    let direction: Direction
    let rising: (heard: Range<Int64>, direction: Direction, share: Double, growth: Double)?

    init(_ part: SoundEdit.Part, of sound: SoundEdit, on timeline: AudioTimeline) {
        let piece = sound.pieces[part.piece]
        count = Int64(part.samples.count)
        heard = piece.places(part.samples, on: timeline)
        direction = piece.direction
        rising = part.crossfade.map { crossfade in
            let next = sound.pieces[part.piece + 1]
            return (next.places(part.samples, on: timeline), next.direction, crossfade.share, crossfade.growth)
        }
    }
}
