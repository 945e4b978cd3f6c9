import ReelCore
import ReelRandom
import Testing

@Suite("The planner")
struct PlannerTests {
    @Test("cuts 456 key frames by 100 from the start and publishes the 56 first", arguments: [1, 2, 3, 16])
    func originalMethod(slots: Int) throws {
        let index = Indexes.regular(frames: 456, keysAt: Array(0..<456))
        let plan = try Plans.make(index, slots: slots, spec: JobSpec(container: .mp4, passFrames: 100, threads: 1))
        let expected = [400..<456, 300..<400, 200..<300, 100..<200, 0..<100].map {
            Pass.video(pass: VideoPass(randomAccessPoint: $0.lowerBound, frames: $0, chunkCount: 1, windowFrames: 48))
        }
        #expect(plan.passes == expected)
    }

    @Test("aims at chunks of 480 frames in windows, of 240 if whole chunks are held")
    func usualChunks() throws {
        func chunks(keysEvery gap: Int) throws -> [Int] {
            let index = Indexes.regular(frames: 48_000, keysAt: Array(stride(from: 0, to: 48_000, by: gap)))
            return try Plans.make(index, slots: 1).videoPasses.flatMap(\.chunks).map(\.count)
        }
        #expect(try chunks(keysEvery: 24).allSatisfy { (400...600).contains($0) })
        #expect(try chunks(keysEvery: 1000).allSatisfy { (200...300).contains($0) })
    }

    @Test("leaves no single frame over when passes are capped")
    func capLeavesNoSingleFrame() throws {
        func lengths(_ frames: Int, keysAt keys: [Int], cap: Int) throws -> [Int] {
            let index = Indexes.regular(frames: frames, keysAt: keys)
            let plan = try Plans.make(index, spec: JobSpec(container: .mp4, passFrames: cap))
            return plan.videoPasses.reversed().map(\.frames.count)
        }
        #expect(try lengths(201, keysAt: Array(0..<201), cap: 100) == [100, 99, 2])
        #expect(try lengths(201, keysAt: [0, 100, 200], cap: 100) == [100, 101])
        #expect(try lengths(301, keysAt: [0, 100, 101, 201], cap: 100) == [100, 101, 100])
        #expect(try lengths(7, keysAt: Array(0..<7), cap: 1) == [2, 2, 3])
        #expect(try lengths(1, keysAt: [0], cap: 100) == [1])
    }

    @Test("caps chunks; caps passes only at RAPs")
    func capBetweenDistantRAPs() throws {
        let index = Indexes.regular(frames: 500, keysAt: [0, 250])
        let plan = try Plans.make(index, slots: 2, spec: JobSpec(container: .mp4, passFrames: 100))
        #expect(plan.videoPasses.map(\.frames) == [250..<500, 0..<250])
        #expect(plan.videoPasses.allSatisfy { $0.chunks.map(\.count) == [84, 83, 83] })
    }

    @Test(
        "holds a window where groups of pictures are short, whatever memory; a chunk where they are not, or far to seek"
    )
    func windows() throws {
        func plan(every gap: Int, format: String = "matroska,webm", budget: Int64 = 2 << 30) throws -> Plan {
            var index = Indexes.regular(frames: 1200, keysAt: Array(stride(from: 0, to: 1200, by: gap)))
            index.format = format
            return try Plans.make(index, slots: 1, memory: MemoryRequest(budget: budget))
        }
        let near = try plan(every: 25)
        #expect(near.videoPasses.allSatisfy { $0.windowFrames == 48 })
        #expect(
            try near.framesHeld(
                in: Indexes.regular(frames: 1200, keysAt: Array(stride(from: 0, to: 1200, by: 25))).video) == 50)
        let starts = try StartTable(Indexes.regular(frames: 170, keysAt: [0, 25, 50, 75, 100, 125, 150]).video)
        #expect(starts.windows(of: 10..<170, least: 60) == [100..<170, 25..<100, 10..<25])
        // Beside what the codecs take, room for 49 frames: groups of 50 do not fit, those of 25 do.
        let codecs = near.need - 50 * 1_400_000
        #expect(try plan(every: 50, budget: codecs + 49 * 1_400_000).longestChunk <= 49)
        let tight = try plan(every: 25, budget: codecs + 49 * 1_400_000)
        #expect(tight.longestChunk == near.longestChunk)
        #expect(tight.videoPasses.allSatisfy { $0.windowFrames == 1 })
        #expect(tight.need == codecs + 48 * 1_400_000)
        #expect(try plan(every: 250).videoPasses.allSatisfy { $0.windowFrames == nil })
        #expect(try plan(every: 25, format: "flv").videoPasses.allSatisfy { $0.windowFrames == nil })
    }

    @Test("holds few frames of a forward clip, whatever the distance of RAPs, and asks for memory for those")
    func forwards() throws {
        for gap in [25, 1200] {
            let index = Indexes.regular(frames: 1200, keysAt: Array(stride(from: 0, to: 1200, by: gap)))
            let video = Plans.target().on(index.video.stream.timeBase)
            func plan(_ direction: Direction, budget: Int64 = 2 << 30, passFrames: Int? = nil) throws -> Plan {
                let spec = JobSpec(container: .mp4, passFrames: passFrames)
                var clip = try Plans.make(index, slots: 1, spec: spec).clips[0]
                clip.map.direction = direction
                var input = PlanInput(indexes: [index], indexHashes: [""], spec: spec, video: video)
                input.chosenClips = [clip]
                return try Planner(slots: 1, memory: MemoryRequest(budget: budget)).plan(input)
            }
            let (forwards, backwards) = (try plan(.forwards), try plan(.backwards))
            #expect(forwards.videoPasses.allSatisfy { $0.windowFrames == nil })
            #expect(forwards.longestChunk >= 400, "memory does not limit chunks")
            #expect(try plan(.forwards, budget: 1) == forwards)
            let held = try backwards.framesHeld(in: index.video)
            #expect(held >= 48)
            #expect(backwards.need - forwards.need == Int64(held - 2) * index.video.stream.frameBytes)
            let several = try plan(.forwards, passFrames: 100).videoPasses.map(\.frames)
            #expect(several.map(\.lowerBound) == several.map(\.lowerBound).sorted())
            #expect(several.first?.lowerBound == 0 && several.last?.upperBound == 1200)
            #expect(try Plan.decoded(from: CanonicalJSON.bytes(of: forwards)) == forwards)
        }
    }

    @Test("A plan whose forward clip is decoded in windows is refused")
    func forwardWindows() throws {
        var plan = try Plans.make(Indexes.regular(frames: 1200, keysAt: Array(stride(from: 0, to: 1200, by: 25))))
        #expect(try Plan.decoded(from: CanonicalJSON.bytes(of: plan)) == plan)
        plan.clips[0].map.direction = .forwards
        #expect(throws: DecodingError.self) { try Plan.decoded(from: CanonicalJSON.bytes(of: plan)) }
    }

    @Test("gives each codec the threads that too few passes leave idle", arguments: [(1, 1), (2, 2), (8, 8), (64, 16)])
    func threadsOfAShortClip(slots: Int, threads: Int) throws {
        let planner = Planner(slots: slots)
        let (short, long) = (
            Indexes.regular(frames: 60, keysAt: [0]),
            Indexes.regular(frames: 48_000, keysAt: Array(0..<1000).map { $0 * 48 })
        )
        func chosen(_ index: SourceIndex, _ video: VideoTarget = Plans.target(), asked: Int? = nil) throws -> Int {
            let spec = JobSpec(container: .mp4, threads: asked)
            return try planner.threads(PlanInput(indexes: [index], indexHashes: [""], spec: spec, video: video))
        }
        #expect(try chosen(short) == threads)
        #expect(try chosen(long) == 1)
        #expect(try chosen(short, Plans.passthrough) == 1)
        #expect(try chosen(short, Plans.target("libsvtav1")) <= 4)
        #expect(try chosen(short, asked: 3) == 3)
    }

    @Test("gives the encoder of each slot's last pass twice the threads", arguments: [2, 5])
    func threadsAtTheEnd(slots: Int) throws {
        let index = Indexes.regular(frames: 9000, keysAt: Array(stride(from: 0, to: 9000, by: 50)))
        func threads(
            _ spec: JobSpec, _ video: VideoTarget = Plans.target(), slots: Int = slots
        ) throws -> [Int] {
            try Plans.make(index, slots: slots, spec: spec, video: video).videoPasses.map(\.threads)
        }
        var spec = JobSpec(container: .mp4, passFrames: 500)
        let (ordinary, last) = (Array(repeating: 1, count: 18 - slots), Array(repeating: 2, count: slots))
        #expect(try threads(spec) == ordinary + last)
        #expect(try Set(threads(spec, Plans.target(threads: 3))) == [3], "no core was left over before")
        #expect(try Set(threads(spec, slots: 1)) == [1])
        #expect(try Set(threads(spec, Plans.target("libx265"))) == [1], "its parameters would be others")
        spec.threads = 1
        #expect(try Set(threads(spec)) == [1], "the spec sets the threads")
        spec.threads = nil
        spec.memory = try Plans.make(index, slots: 1, memory: MemoryRequest(budget: 0), spec: spec).need
        #expect(try Set(threads(spec)) == [1], "there is no memory for more")
        let tight = try Plans.make(index, slots: slots, spec: spec)
        spec.threads = 1
        #expect(try Plans.make(index, slots: slots, spec: spec) == tight, "passes stay as they are")
        spec.threads = nil
        spec.memory = spec.memory.map { $0 + (32 << 20) }
        #expect(try Set(threads(spec)) == [1, 2])
    }

    @Test("takes no more threads than the memory allowed holds")
    func threadsAndMemory() throws {
        let index = Indexes.regular(frames: 60, keysAt: [0])
        let need = try Plans.make(index, slots: 8, video: Plans.target(threads: 3)).need
        let limited = Planner(slots: 8, memory: MemoryRequest(budget: need, limit: need))
        var input = PlanInput(
            indexes: [index], indexHashes: [""], spec: JobSpec(container: .mp4), video: Plans.target())
        #expect(try limited.threads(input) > 1)
        input.spec.memory = try Plans.make(index, slots: 8).need
        #expect(try Planner(slots: 8).threads(input) < 8)
    }

    @Test("decodes a long file with one key frame as often as 15 % allow")
    func oneKeyFrame() throws {
        let index = Indexes.regular(frames: 172_800, keysAt: [0])
        let alone = try Plans.make(index, slots: 1)
        #expect(alone.videoPasses == [VideoPass(randomAccessPoint: 0, frames: 0..<172_800, chunkCount: 720)])
        for (slots, passes) in [(2, 2), (3, 3), (8, 3)] {
            let plan = try Plans.make(index, slots: slots, spec: JobSpec(container: .mp4, threads: 1))
            #expect(plan.videoPasses.count == passes)
            #expect(plan.videoPasses.allSatisfy { $0.randomAccessPoint == 0 })
            #expect(plan.redundancy(in: index.video) <= 0.15)
            // Passes later in the source discard more, encode less, and so take as long as the others.
            #expect(plan.imbalance(slots: passes, in: index.video) < 1.001)
            let difference = abs(plan.need - alone.need) / index.video.stream.frameBytes
            #expect(difference <= 2, "a chunk's memory, however far apart RAPs are")
        }
        let cheap = try Plans.make(index, slots: 8, video: Plans.target("mjpeg"))
        #expect(cheap.videoPasses.count == 1, "if encoding is cheap, decoding twice does not pay")
        let dear = try Plans.make(index, slots: 8, video: Plans.target("libx265"))
        #expect(dear.videoPasses.count > 3)
        #expect(dear.redundancy(in: index.video) <= 0.15)
    }

    @Test("keeps one, two and three slots busy with ordinary groups of pictures", arguments: [1, 2, 3])
    func ordinary(slots: Int) throws {
        let index = Indexes.regular(frames: 9000, keysAt: Array(stride(from: 0, to: 9000, by: 250)))
        let plan = try Plans.make(index, slots: slots)
        #expect(plan.redundancy(in: index.video) == 0)
        #expect(plan.imbalance(slots: slots, in: index.video) < 1.06)
        #expect(plan.videoPasses.allSatisfy { $0.frames.lowerBound.isMultiple(of: 250) })
        #expect(plan.videoPasses.count >= 4 * slots)
    }

    @Test("makes passes shorter towards the end of a job for many slots, so that slots finish at about the same time")
    func shorterAtTheEnd() throws {
        let index = Indexes.regular(frames: 172_500, keysAt: Array(stride(from: 0, to: 172_500, by: 60)))
        func lengths(slots: Int, _ spec: JobSpec = JobSpec(container: .mp4)) throws -> [Int] {
            let plan = try Plans.make(index, slots: slots, spec: spec)
            #expect(plan.redundancy(in: index.video) == 0)
            #expect(plan.videoPasses.reduce(0) { $0 + $1.frames.count } == 172_500)
            return plan.videoPasses.map(\.frames.count)
        }
        let many = try lengths(slots: 64)
        #expect(many.prefix(64).allSatisfy { $0 >= 480 })
        #expect(many.suffix(64).allSatisfy { (120...300).contains($0) })
        #expect(many.allSatisfy { $0 <= 540 }, "one chunk")
        // Each pass costs up to 30 % more or less than another of its length.
        for seed in UInt64(1)...5 {
            var random = SplitMix64(seed: seed)
            var busyUntil = Array(repeating: 0.0, count: 64)
            for length in many {
                busyUntil.sort()
                busyUntil[0] += Double(length) * Double.random(in: 0.7...1.3, using: &random)
            }
            let imbalance = (busyUntil.max() ?? 0) * 64 / busyUntil.reduce(0, +)
            #expect(imbalance < 1.1, "seed \(seed); passes of equal length have 1.13")
        }
        #expect(try lengths(slots: 32).allSatisfy { $0 >= 480 }, "few slots get passes of equal length")
        let capped = try lengths(slots: 64, JobSpec(container: .mp4, passFrames: 480))
        #expect(capped.dropFirst().allSatisfy { $0 == 480 }, "the user's length goes first")
    }

    @Test("keeps passes of equal length if shorter ones at the end would make the job longer")
    func noRoomForShorterPasses() throws {
        let index = Indexes.regular(frames: 12_800, keysAt: Array(stride(from: 0, to: 12_800, by: 24)))
        let plan = try Plans.make(index, slots: 64)
        #expect(plan.videoPasses.count == 64)
        #expect(plan.videoPasses.allSatisfy { (192...216).contains($0.frames.count) })
    }

    @Test("plans one frame, and two")
    func tiny() throws {
        let one = try Plans.make(Indexes.regular(frames: 1, keysAt: [0]), slots: 1)
        #expect(one.passes == [.video(pass: VideoPass(randomAccessPoint: 0, frames: 0..<1, chunkCount: 1))])
        let two = try Plans.make(Indexes.regular(frames: 2, keysAt: [0, 1]), slots: 1)
        #expect(two.passes == [.video(pass: VideoPass(randomAccessPoint: 0, frames: 0..<2, chunkCount: 1))])
    }

    @Test("starts at the later of two RAPs for the same frame, and at none that is overtaken")
    func choiceOfRAP() throws {
        var index = Indexes.regular(frames: 600, keysAt: [0, 100, 300, 310])
        index.video.randomAccessPoints[1] = RandomAccessPoint(packet: 100, frame: 360)
        index.video.randomAccessPoints[2] = RandomAccessPoint(packet: 295, frame: 310)
        let plan = try Plans.make(index, spec: JobSpec(container: .mp4, passFrames: 310, threads: 1))
        #expect(
            plan.videoPasses == [
                VideoPass(randomAccessPoint: 3, frames: 310..<600, chunkCount: 1),
                VideoPass(randomAccessPoint: 0, frames: 0..<310, chunkCount: 2),
            ])
    }

    @Test("refuses a video without frames, and one that cannot be decoded from its first")
    func undecodable() {
        let none = #expect(throws: ReelFailure.self) { try Plans.make(Indexes.regular(frames: 0, keysAt: [])) }
        #expect(none?.kind == .input)
        #expect(none?.reason == .noFrames(path: nil))
        for keys in [[], [3]] {
            let late = #expect(throws: ReelFailure.self) { try Plans.make(Indexes.regular(frames: 9, keysAt: keys)) }
            #expect(late?.kind == .input)
        }
        let huge = Indexes.make(durations: [1], keysAt: [0], timeBase: TimeBase(1, 25), frameBytes: .max)
        #expect(throws: ReelFailure.self) { try Plans.make(huge) }
    }

    @Test("passes on the diagnostics of index and engine, each once")
    func diagnostics() throws {
        var index = Indexes.regular(frames: 10, keysAt: [0])
        let found: [Diagnostic] = [.clockRestarts(restarts: 1), .noTimestamps, .chaptersLeftOut(container: .nut)]
        index.diagnostics = Array(found[..<2])
        let plan = try Planner(slots: 1).plan(
            PlanInput(
                indexes: [index], indexHashes: [""], spec: JobSpec(container: .nut, verify: .decode),
                video: Plans.target(), diagnostics: Array(found[1...])))
        #expect(plan.diagnostics == found)
        #expect(plan.container == .nut)
        #expect(plan.verify == .decode)
    }
}
