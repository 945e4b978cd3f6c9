import Foundation
import ReelCore
import Testing

/// Edits of several sources: the output's clock, where clips lie on it, and which passes make them.
@Suite("Edits of several sources")
struct EditSourcesTests {
    private func plan(
        _ indexes: [SourceIndex], _ edit: Edit, slots: Int = 2, passFrames: Int? = nil, mostFrames: Rational? = nil,
        container: Container = .nut
    ) throws -> Plan {
        let spec = JobSpec(container: container, edit: edit, mostFrames: mostFrames, passFrames: passFrames)
        let plan = try Planner(slots: slots).plan(
            PlanInput(
                indexes: indexes, indexHashes: indexes.map { _ in "" }, spec: spec,
                video: Plans.target().on(try spec.clock(of: indexes))))
        #expect(plan.fits(indexes))
        #expect(try Plan.decoded(from: CanonicalJSON.bytes(of: plan)) == plan)
        return plan
    }

    private let index25 = Indexes.regular(frames: 50, keysAt: [0, 20])
    private let index29 = Indexes.regular(frames: 60, keysAt: [0], rate: Rational(30000, 1001))

    @Test("the clock has a tick for every frame of every clip, and is the coarsest that has")
    func clock() throws {
        func clock(_ indexes: [SourceIndex], _ clips: [EditClip]) throws -> TimeBase {
            try JobSpec(container: .nut, edit: Edit(clips: clips)).clock(of: indexes)
        }
        let (a, b) = (EditClip(play: .forward), EditClip(source: 1, play: .pingPong))
        #expect(try clock([index25], [a]) == TimeBase(1, 12_800))
        #expect(try clock([index25, index25], [a, b]) == TimeBase(1, 12_800))
        // 512 ticks a frame are a common clock of 38,400,000 ticks a second; frames alone need one of 30,000.
        #expect(try clock([index25, index29], [a, b]) == TimeBase(1, 30_000))
        #expect(try clock([index25], [EditClip(play: .forward, speed: Rational(3, 2))]) == TimeBase(1, 19_200))
        #expect(try clock([index25], [a, .gap(Rational(1, 3))]) == TimeBase(1, 38_400))
        let fine = Indexes.make(durations: [7, 11, 13], keysAt: [0], timeBase: TimeBase(1, 90_000))
        #expect(try clock([index29, fine], [a, b]) == TimeBase(1, 90_000))
        let odd = Indexes.make(durations: [7, 11, 13], keysAt: [0], timeBase: TimeBase(1, 44_100))
        #expect(try clock([fine, odd], [a, b]) == TimeBase(1, 1_000_000))
        // A picture of an hour would not fit into 31 bits.
        #expect(try clock([fine, odd], [a, b, .gap(Rational(3600))]) == TimeBase(1, 1000))
    }

    @Test("at a constant rate a still is as many frames as fit, which are encoded once, and the last lasts to the end")
    func stillFrames() throws {
        let clips: [EditClip] = [
            EditClip(to: .seconds(Rational(1)), play: .forward), .gap(Rational(1, 2)),
            EditClip(from: .seconds(Rational(1)), play: .forward, still: Rational(1, 50), title: "b"),
        ]
        func made(_ clips: [EditClip], _ mostFrames: Int64) throws -> Plan {
            try self.plan([index25], Edit(clips: clips), slots: 1, mostFrames: Rational(mostFrames), container: .mp4)
        }
        let plan = try made(clips, 24)
        // All frames of the film: 25 a second are near 24, but more.
        #expect(plan.clips[0].step == 2)
        let frame = Rational(1, 24)
        #expect(plan.clips.dropFirst().map(\.map.duration) == Array(repeating: frame, count: 12) + [Rational(1, 50)])
        #expect(plan.clips[1...12].allSatisfy { $0.isBlack && $0.alone == plan.clips[1].alone })
        #expect(plan.clips[12].map.offset == Rational(1) + frame * Rational(11))
        #expect(plan.clips[13].map.offset == Rational(3, 2))
        #expect(
            plan.video.format.timeBase.ticks(in: frame, rounding: .up) * 24
                == plan.video.format.timeBase.ticks(in: Rational(1), rounding: .up))
        let rest = try self.plan([index25], Edit(clips: [EditClip(play: .forward), .gap(Rational(1, 2))]))
        #expect(rest.clips.count == 2)
        let failure = #expect(throws: ReelFailure.self) {
            try made([EditClip(play: .forward), .gap(Rational(100_000))], 24)
        }
        #expect(failure?.reason == .stillTooLong(clip: 1, frames: 2_400_000, most: Edit.mostClips))
        // Beyond 64 bits.
        let absurd = #expect(throws: ReelFailure.self) {
            try made([EditClip(play: .forward), .gap(Rational(.max))], 1000)
        }
        #expect(absurd?.reason == .stillTooLong(clip: 1, frames: .max, most: Edit.mostClips))
    }

    @Test("as many clips as an edit may have, each forth and back, leave room for a still")
    func stillAfterManyClips() throws {
        let many = EditClip(to: .seconds(Rational(2, 25)), play: .pingPong, times: EditClip.timesAllowed.upperBound)
        let edit = Edit(clips: Array(repeating: many, count: 9) + [.gap(Rational(1))], turn: .twice)
        #expect(try plan([index25], edit).clips.count == 180_001)
    }

    @Test("clips follow one another at their speeds, each rounded once, and nothing drifts")
    func places() throws {
        let edit = Edit(
            clips: [
                EditClip(source: 1, from: .seconds(Rational(1)), play: .reverse, speed: Rational(3, 2)),
                .gap(Rational(1, 2)),
                EditClip(source: 0, to: .seconds(Rational(4, 10)), play: .pingPong, times: 2, title: "a"),
                EditClip(source: 0, from: .seconds(Rational(1)), play: .forward, still: Rational(2), title: "b"),
            ])
        let plan = try plan([index25, index29], edit)
        #expect(plan.clips.map(\.source) == [1, 1, 0, 0, 0, 0, 0])
        #expect(plan.clips.map(\.isBlack) == [false, true, false, false, false, false, false])
        #expect(plan.clips.map(\.isHeard) == [true, false, true, true, true, true, false])
        #expect(plan.clips.map(\.frames) == [30..<60, 0..<1, 0..<10, 1..<9, 0..<10, 1..<9, 25..<26])
        let first = Rational(1001, 1500) * Rational(1)
        let lengths = [
            first, Rational(1, 2), Rational(4, 10), Rational(8, 25), Rational(4, 10), Rational(8, 25), Rational(2),
        ]
        #expect(plan.clips.map(\.map.duration) == lengths)
        var end = Rational(0)
        for (clip, length) in zip(plan.clips, lengths) {
            #expect(clip.map.offset == end)
            end = end + length
        }
        let ticks = plan.video.format.timeBase.ticks(in: end, rounding: .nearest)
        #expect(plan.end(in: [index25, index29]).ticks == ticks)
        // Frames meet: the output has no hole and no overlap.
        var last = Timestamp(0)
        for clip in plan.clips {
            let track = [index25, index29][clip.source].video
            for place in 0..<clip.frameCount {
                let interval = clip.interval(at: place, in: track)
                #expect(interval.start == last)
                last = interval.end
            }
        }
        #expect(plan.chapters.map(\.title) == ["a", "b"])
        #expect(plan.chapters.map(\.start) == [plan.clips[2].map.offset, plan.clips[6].map.offset])
        #expect(plan.chapters.map(\.end) == [plan.clips[6].map.offset, end])
        // Both repeats of the ping-pong come from one pass.
        #expect(plan.makers == [0, 1, 2, 3, 2, 3, 6])
        #expect(plan.videoPasses.map(\.clips) == [[0], [1], [2, 3], [6]])
    }

    @Test("passes of each source start at its own random access points, and memory is that of the greediest")
    func passes() throws {
        var large = index25
        large.video.stream.frameBytes *= 4
        (large.video.stream.width, large.video.stream.height) = (2560, 1440)
        let edit = Edit(clips: [EditClip(play: .forward), EditClip(source: 1, play: .reverse)])
        let both = try plan([index29, large], edit, slots: 1, passFrames: 10)
        for pass in both.videoPasses {
            let index = [index29, large][both.clips[pass.clips[0]].source]
            let point = index.video.randomAccessPoints[pass.randomAccessPoint]
            #expect(Int(point.frame) <= pass.frames.lowerBound)
        }
        #expect(both.framesToMake == 110)
        let small = try plan([index29, index25], edit, slots: 1, passFrames: 10)
        #expect(both.need > small.need)
        // Pictures of another size are converted, which takes memory of its own.
        var fitting = large
        (fitting.video.stream.width, fitting.video.stream.height) = (1280, 720)
        let same = try plan([index29, fitting], edit, slots: 1, passFrames: 10)
        #expect(both.need - same.need == 8 * large.video.stream.frameBytes / 2)
    }

    @Test("a range whose bounds are rounded has the frames whose middle lies in it")
    func middles() throws {
        func frames(_ from: Rational?, _ to: Rational?, _ rule: RangeRule?) throws -> Range<Int> {
            let clip = EditClip(
                from: from.map(Position.seconds), to: to.map(Position.seconds), rule: rule, play: .reverse)
            return try plan([index29], Edit(clips: [clip])).clips[0].frames
        }
        // Frames 30 to 59 in a rate that was rounded: the first bound is late, or early, by less than half a frame.
        for (low, high) in [("29.97", "29.97"), ("29.9", "29.95"), ("30.1", "30.05")] {
            let (first, last) = (Double(low) ?? 1, Double(high) ?? 1)
            let (from, to) = (
                Rational(Int64(30 / first * 1e9), 1_000_000_000), Rational(Int64(60 / last * 1e9), 1_000_000_000)
            )
            #expect(try frames(from, to, .middle) == 30..<60, "\(low)")
        }
        #expect(try frames(Rational(1001, 1000) + Rational(1, 1000), nil, nil) == 31..<60)
        // The middle of frame 10 is at 10.5 frames: the range begins with it, and ends before it.
        let middle = Rational(21, 2) * Rational(1001, 30_000)
        #expect(try frames(middle, nil, .middle) == 10..<60 && frames(nil, middle, .middle) == 0..<10)
        #expect(try frames(Rational(-1), Rational(9), .middle) == 0..<60)
        let job = EditClip(from: .seconds(Rational(1)), to: .seconds(Rational(2)), rule: .middle, play: .forward)
        #expect(try JSONDecoder().decode(EditClip.self, from: JSONEncoder().encode(job)) == job)
        let plain = String(
            decoding: try CanonicalJSON.bytes(of: Edit(clips: [EditClip(play: .forward)])), as: UTF8.self)
        #expect(!plain.contains("rule") && !plain.contains("timecode"))
    }

    @Test("trimmed clips are those frames that have sound, with what crossfades need beyond them")
    func trims() throws {
        var index = index25
        // From 0.1 s to 1.9 s of two seconds.
        index.audio = [Indexes.audioTrack(rate: 1000, start: 100, duration: 1800)]
        func frames(_ clips: [EditClip], _ crossfade: Rational) throws -> [Range<Int>] {
            let edit = Edit(clips: clips, crossfade: crossfade, trim: .shared)
            return try plan([index], edit).clips.map(\.frames)
        }
        let clip = EditClip(play: .forward)
        #expect(try frames([clip], Rational(1)) == [3..<47])
        // Half of the crossfade at each join.
        #expect(try frames([clip, clip], Rational(2, 10)) == [3..<45, 5..<47])
        #expect(try frames([clip, EditClip(play: .reverse)], Rational(2, 10)) == [3..<45, 3..<45])
        #expect(try frames([EditClip(play: .forward, times: 2)], Rational(2, 10)) == [5..<45, 5..<45])
        // A still needs no sound, and what comes before it has a join.
        #expect(try frames([clip, .gap(Rational(1))], Rational(2, 10))[0] == 3..<45)
        let failure = #expect(throws: ReelFailure.self) {
            try frames([clip, EditClip(to: .seconds(Rational(1, 10)), play: .forward)], Rational(0))
        }
        #expect(failure?.reason == .clipUnshared(clip: 1))
    }

    @Test("the sound may come from another source than the first picture")
    func soundOfAnother() throws {
        let long = Indexes.regular(frames: 500, keysAt: [0])
        var heard = index25
        heard.audio = [Indexes.audioTrack(0)]
        let edit = Edit(clips: [
            EditClip(from: .seconds(Rational(10)), play: .forward, sound: false), EditClip(source: 1, play: .reverse),
        ])
        var plan = try plan([long, heard], edit)
        plan.audio = [Plans.audio(0)]
        plan.audio[0].source = 1
        let planned = PlannedSegments(plan: plan, indexes: [long, heard]) { "\($0.count)" }
        #expect(planned.content(ofAudio: 0)?.source == 1)
        let pieces = SoundEdit(plan.clips, tracks: [long.video, heard.video]).pieces
        #expect(pieces.map(\.source) == [nil, 1])
        #expect(pieces.map(\.end) == [Rational(10), Rational(12)])
    }

    @Test("a still of a frame without a duration lasts as long as it should")
    func stillWithoutDuration() throws {
        let index = Indexes.make(durations: [0, 512, 0], keysAt: [0], timeBase: TimeBase(1, 12_800))
        let edit = Edit(clips: [EditClip(play: .forward, still: Rational(2)), EditClip(play: .forward)])
        let plan = try plan([index], edit)
        #expect(plan.clips[0].map.speed > Rational(0))
        #expect(plan.clips[1].map.offset == Rational(2))
        #expect(plan.clips[1].frames == 0..<3)
    }

    @Test("an edit that no program writes is known")
    func hostile() {
        let good = Edit(clips: [EditClip(play: .forward), .gap(Rational(1))])
        #expect(good.isSound(sources: 1) && !good.isSound(sources: 0))
        let changes: [(inout Edit) -> Void] = [
            { $0.clips[0].source = 1 }, { $0.clips[0].source = -1 }, { $0.clips[0].times = 0 },
            { $0.clips[0].times = 10_001 }, { $0.clips[0].speed = Rational(0) }, { $0.clips[0].speed = Rational(17) },
            { $0.clips[1].still = Rational(0) }, { $0.clips[1].still = nil }, { $0.clips = [] },
            { $0.clips.removeFirst() }, { $0.crossfade = Rational(-1) },
            { $0.clips += Array(repeating: EditClip(play: .forward, times: 10_000), count: 10) },
        ]
        for (number, change) in changes.enumerated() {
            var edit = good
            change(&edit)
            #expect(!edit.isSound(sources: 1), "change \(number)")
        }
    }

    @Test("a crossfade is no longer than one repeat of either neighbour, as it is shown in the end")
    func shortNeighbours() throws {
        func crossfades(_ clips: [EditClip], _ indexes: [SourceIndex], trim: Trim = .none) throws -> [Rational] {
            try plan(indexes, Edit(clips: clips, crossfade: Rational(1), trim: trim)).clips.compactMap {
                if case .join(let length)? = $0.joint { length } else { nil }
            }
        }
        let clip = EditClip(play: .forward)
        // Of three frames, a ping-pong shows four.
        let short = EditClip(to: .seconds(Rational(3, 25)), play: .pingPong)
        #expect(try crossfades([clip, short, clip], [index25]) == [Rational(4, 25), Rational(4, 25)])
        // Without the handles, hardly half a second is left of the clip in the middle.
        var heard = Indexes.regular(frames: 38, keysAt: [0])
        heard.audio = [Indexes.audioTrack(rate: 1000, start: 0, duration: 1520)]
        let trimmed = try crossfades([clip, clip, clip], [heard], trim: .shared)
        #expect(trimmed == [Rational(12, 25), Rational(12, 25)])
    }

    @Test("a range without frames is named by its clip")
    func emptyRange() throws {
        let clips = [
            EditClip(play: .forward), EditClip(source: 1, from: .seconds(Rational(9)), play: .reverse, title: "b"),
        ]
        let failure = #expect(throws: ReelFailure.self) { try plan([index25, index29], Edit(clips: clips)) }
        #expect(
            failure?.reason == .clipOutOfRange(clip: 1, from: .seconds(Rational(9)), to: nil, end: Rational(1001, 500)))
    }

    @Test("a moment that is rewound has two frames, however it is named")
    func shortMoment() throws {
        func plan(_ from: Position, _ to: Position) throws -> [Range<Int>] {
            try self.plan(
                [index25],
                Edit(clips: [
                    EditClip(to: from, play: .forward), EditClip(from: from, to: to, play: .pingPong, leastFrames: 2),
                    EditClip(from: from, play: .forward),
                ])
            ).clips.map(\.frames)
        }
        let (second, next) = (Position.seconds(Rational(1)), Position.seconds(Rational(103, 100)))
        let failure = #expect(throws: ReelFailure.self) { try plan(second, next) }
        #expect(failure?.reason == .rangeTooShort(from: second, to: next, frames: 1, least: 2))
        #expect(failure?.kind == .usage)
        #expect(try plan(second, .seconds(Rational(105, 100))) == [0..<25, 25..<27, 25..<50])
    }

    @Test("a soundtrack begins before its end, whatever moment its file's clock begins at")
    func lateSoundtrack() throws {
        var song = Indexes.regular(frames: 50, keysAt: [0])
        song.startTime = Rational(10)
        song.audio = [Indexes.audioTrack(rate: 44100, start: 441_000, duration: 2 * 44100 + 1)]
        func plan(from moment: Rational) throws {
            var edit = Edit(clips: [EditClip(play: .reverse)])
            edit.soundtrack = Soundtrack(source: 1, from: moment)
            _ = try self.plan([index25, song], edit)
        }
        try plan(from: Rational(2))
        let end = Rational(2 * 44100 + 1, 44100)
        let failure = #expect(throws: ReelFailure.self) { try plan(from: end) }
        #expect(failure?.reason == .soundtrackOutOfRange(from: end, end: end))
    }

    @Test("a job's directions, and the source that gives the output its format")
    func format() {
        let edit = Edit(clips: [
            .gap(Rational(1)), EditClip(source: 2, play: .reverse), EditClip(source: 0, play: .forward),
        ])
        let spec = JobSpec(container: .mkv, edit: edit)
        #expect(spec.mainSource == 2)
        #expect(spec.shownSources == [2, 0])
        #expect(spec.directions == [.forwards, .backwards])
    }
}
