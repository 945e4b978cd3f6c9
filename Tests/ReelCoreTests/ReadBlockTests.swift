import ReelCore
import ReelRandom
import Testing

@Suite("Packets that are copied")
struct ReadBlockTests {
    @Test(
        "blocks partition the frames in their direction, none larger than it may be unless it is one packet",
        arguments: Direction.allCases)
    func partition(direction: Direction) {
        for seed in UInt64(0)..<200 {
            var random = SplitMix64(seed: seed)
            var track = Indexes.regular(
                frames: Int.random(in: 1...300, using: &random), keysAt: [0], rate: Rational(30000, 1001)
            ).video
            let large: Int32 = [10, 1000, 3_000_000, 90_000_000].randomElement(using: &random) ?? 10
            for place in track.packets.indices { track.packets[place].size = .random(in: 1...large, using: &random) }
            let first = Int.random(in: 0..<track.frames.count, using: &random)
            let all = first..<Int.random(in: first + 1...track.frames.count, using: &random)

            var left = all
            while !left.isEmpty {
                let block = track.readBlock(of: left, direction)
                #expect(direction.order(block).first { _ in true } == direction.order(left).first { _ in true })
                #expect(block.clamped(to: left) == block)
                #expect(!block.isEmpty)
                #expect(block.count == 1 || track.bytes(of: block) <= 16 << 20)
                // One more would have been too much.
                let more = min(block.count + 1, left.count)
                let longer = direction == .forwards ? left.prefix(more) : left.suffix(more)
                #expect(longer == block || track.bytes(of: longer) > 16 << 20)
                left = direction == .forwards ? left.dropFirst(block.count) : left.dropLast(block.count)
            }
        }
    }

    @Test("every packet is found from the last random access point at or before it")
    func points() throws {
        let keys = [0, 1, 2, 5, 9]
        let track = Indexes.regular(frames: 12, keysAt: keys).video
        let starts = try StartTable(track)
        let found = (0..<12).map { keys[starts.point(for: $0)] }
        #expect(found == [0, 1, 2, 2, 2, 5, 5, 5, 5, 9, 9, 9])
    }

    @Test("a plan to copy has no passes of video, and names the memory that the assembly takes")
    func plan() throws {
        var index = Indexes.regular(frames: 700, keysAt: Array(0..<700), rate: Rational(30000, 1001))
        index.audio = [Indexes.audioTrack(0)]
        let copy = Plans.passthrough
        let plan = try Plans.make(index, spec: JobSpec(container: .mov, passFrames: 100), video: copy)
        #expect(plan.passes == [.audio(place: 0)])
        #expect(plan.clips[0].frames == 0..<700)
        #expect(plan.need > 60 << 20 && plan.need < 192 << 20)
        let input = PlanInput(indexes: [index], indexHashes: [""], spec: JobSpec(container: .mov), video: copy)
        #expect(try Planner(slots: 8).threads(input) == 1)

        // Packets larger than a block: some at a time.
        index.video.packets[7].size = 100_000_000
        #expect(try Plans.make(index, video: copy).need > 500_000_000)

        let little = MemoryRequest(budget: 1 << 20, limit: 100 << 20)
        let failure = #expect(throws: ReelFailure.self) { try Plans.make(index, memory: little, video: copy) }
        #expect(failure?.kind == .usage)
        guard case .memoryTooSmall(100 << 20, _, copies: true) = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }
}

extension VideoTrack {
    /// With what a packet takes beside its payload.
    fileprivate func bytes(of block: Range<Int>) -> Int {
        frames[block].reduce(0) { $0 + Int(packets[Int($1.packet)].size) + 1024 }
    }
}

/// Frames at equal distances.
@Suite struct FrameSampleTests {
    @Test(arguments: 0..<50)
    func aSampleLiesInTheMiddleOfAllFrames(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let (wanted, all) = (Int.random(in: 1...20, using: &random), Int.random(in: 1...5000, using: &random))
        let frames = FrameSample(wanted, of: all).frames
        #expect(frames.count == min(wanted, all))
        #expect(frames.allSatisfy { (0..<all).contains($0) })
        let steps = Set(zip(frames, frames.dropFirst()).map { $1 - $0 })
        #expect(steps.count <= 1 && steps.allSatisfy { $0 == all / frames.count })
        // As many frames lie before the first as after the last, or one fewer.
        let (before, after) = (frames[0], all - 1 - frames[frames.count - 1])
        #expect((0...1).contains(after - before))
    }

    @Test func oneFrameIsItself() {
        #expect(FrameSample(7).frames == [7])
        #expect(FrameSample(12, of: 90).frames == Array(stride(from: 6, through: 83, by: 7)))
    }
}
