import Foundation
import ReelCore
import ReelRandom
import ReelTestSupport
import Testing

/// Properties of every plan, tried on seeded random sources.
@Suite("Every plan")
struct PlannerPropertyTests {
    struct Case: Sendable {
        var seed: UInt64
        var index: SourceIndex
        var spec: JobSpec
        var slots: Int
        var plan: Plan

        init(seed: UInt64) throws {
            var random = SplitMix64(seed: seed)
            self.seed = seed
            index = Indexes.random(using: &random, frames: seed.isMultiple(of: 3) ? 60 : 6000)
            if Int.random(in: 0..<4, using: &random) == 0 { Case.addRecoveryPoints(to: &index.video, using: &random) }
            spec = JobSpec(container: .mkv)
            slots = Int.random(in: 1...12, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                spec.passFrames = Int.random(in: 1...300, using: &random)
            }
            if Bool.random(using: &random) {
                let frames = index.video.frames
                let place = Int.random(in: frames.indices, using: &random)
                spec.from = .seconds(
                    index.video.stream.timeBase.seconds(frames[place].interval.start) - index.startTime)
            }
            let encoder = Plans.weights.keys.sorted().randomElement(using: &random) ?? "libx264"
            let budget = Int64.random(in: 1...2048, using: &random) << 20
            plan = try Plans.make(
                index, slots: slots, memory: MemoryRequest(budget: budget), spec: spec, video: Plans.target(encoder))
        }

        /// Some RAPs, as with intra refresh, decode correctly only later; some are overtaken by others.
        private static func addRecoveryPoints(to track: inout VideoTrack, using random: inout SplitMix64) {
            for place in track.randomAccessPoints.indices.dropFirst() {
                let later = track.randomAccessPoints[place].frame + Int32.random(in: 0...30, using: &random)
                track.randomAccessPoints[place].frame = min(later, Int32(track.frames.count - 1))
            }
        }
    }

    /// Made once for all tests.
    private static let cases = (0..<300 as Range<UInt64>).map { seed in Result { try Case(seed: seed) } }

    @Test("shows the selected frames once each, from the source's end to its start")
    func partition() throws {
        for trial in Self.cases {
            let (seed, plan) = (try trial.get().seed, try trial.get().plan)
            var next = plan.clips[0].frames.upperBound
            for pass in plan.videoPasses {
                #expect(pass.frames.upperBound == next, "seed \(seed)")
                next = pass.frames.lowerBound
                #expect(pass.chunks.first?.lowerBound == pass.frames.lowerBound, "seed \(seed)")
                #expect(pass.chunks.last?.upperBound == pass.frames.upperBound, "seed \(seed)")
                #expect(zip(pass.chunks, pass.chunks.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
            }
            #expect(next == plan.clips[0].frames.lowerBound, "seed \(seed)")
            let audio = plan.audio.indices.map { Pass.audio(place: $0) }
            #expect(Array(plan.passes.prefix(audio.count)) == audio, "audio comes first; seed \(seed)")
        }
    }

    @Test("starts each pass at the latest RAP that decodes its first frame")
    func decodable() throws {
        for trial in try Self.cases.map({ try $0.get() }) {
            let seed = trial.seed
            let points = trial.index.video.randomAccessPoints
            for pass in trial.plan.videoPasses {
                let latest = points.lastIndex { $0.frame <= pass.frames.lowerBound }
                #expect(pass.randomAccessPoint == latest, "seed \(seed)")
            }
        }
    }

    @Test("has no chunk of a single frame beside others, and none longer than asked for")
    func chunkLengths() throws {
        for trial in try Self.cases.map({ try $0.get() }) {
            let seed = trial.seed
            let chunks = trial.plan.videoPasses.flatMap(\.chunks)
            #expect(chunks.count == 1 || chunks.allSatisfy { $0.count >= 2 }, "seed \(seed)")
            for pass in trial.plan.videoPasses {
                let most = pass.windowFrames == nil ? 300 : 600
                // Only so that no single frame is left over does a chunk take one more, or two of one.
                let cap = max(trial.spec.passFrames ?? most, 3)
                #expect(pass.chunks.allSatisfy { $0.count <= min(cap, most) }, "seed \(seed)")
            }
        }
    }

    @Test("decodes no more than 15 % of the work again, unless the passes' length was asked for")
    func redundancy() throws {
        var sharing = 0
        for trial in try Self.cases.map({ try $0.get() }) {
            let seed = trial.seed
            let redundancy = trial.plan.redundancy(in: trial.index.video)
            if trial.spec.passFrames == nil { #expect(redundancy <= 0.15, "seed \(seed)") }
            if redundancy > 0.01 { sharing += 1 }
        }
        #expect(sharing > 20, "else the trials show nothing")
    }

    @Test("needs no more than the memory allowed, and more only for more frames at a time")
    func memory() throws {
        var backwards = 0
        for trial in try Self.cases.map({ try $0.get() }) {
            let (seed, track) = (trial.seed, trial.index.video)
            let held = try trial.plan.framesHeld(in: track)
            let frameBytes = track.stream.frameBytes
            let least = trial.plan.need - Int64(held) * frameBytes
            #expect(least >= 19 * frameBytes + (60 << 20), "seed \(seed)")
            let starts = try StartTable(track)
            for pass in trial.plan.videoPasses {
                guard let least = pass.windowFrames else { continue }
                backwards += 1
                let longest = starts.windows(of: pass.frames, least: least).map(\.count).max() ?? 0
                #expect(longest < pass.chunks.map(\.count).max() ?? 0, "seed \(seed)")
            }
            var spec = trial.spec
            spec.memory = trial.plan.need
            let again = try Plans.make(trial.index, slots: trial.slots, spec: spec, video: trial.plan.video)
            #expect(again.need <= trial.plan.need, "seed \(seed)")
            #expect(try again.framesHeld(in: track) <= max(held, 48), "seed \(seed)")
        }
        #expect(backwards > 50, "else the trials show nothing")
    }

    @Test("decodes backwards in windows that lie one before another, each but the last from a RAP of its own")
    func windows() throws {
        for trial in try Self.cases.map({ try $0.get() }) {
            let (seed, track) = (trial.seed, trial.index.video)
            let starts = try StartTable(track)
            for pass in trial.plan.videoPasses {
                guard let least = pass.windowFrames else { continue }
                let windows = starts.windows(of: pass.frames, least: least)
                #expect(windows.count > 1, "seed \(seed)")
                #expect(windows.reversed().flatMap(Array.init) == Array(pass.frames), "seed \(seed)")
                #expect(windows.dropLast().allSatisfy { $0.count >= least }, "seed \(seed)")
                var redundant = 0
                for window in windows.dropLast() {
                    let point = track.randomAccessPoints[starts.point(for: window.lowerBound)]
                    #expect(Int(point.frame) == window.lowerBound, "seed \(seed)")
                    redundant += Int(track.frames[window.lowerBound].packet - point.packet)
                }
                let share = Double(redundant) * Double(track.frames.count) / Double(track.packets.count)
                #expect(share <= 0.03 * Double(pass.frames.count) + 1, "seed \(seed)")
            }
        }
    }

    @Test("keeps all slots busy if RAPs are near one another")
    func balance() throws {
        for seed in 0..<100 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let slots = Int.random(in: 1...8, using: &random)
            let count = Int.random(in: slots * 240...20_000, using: &random)
            var keys = [0]
            while let last = keys.last, last < count { keys.append(last + Int.random(in: 1...24, using: &random)) }
            let index = Indexes.regular(frames: count, keysAt: keys.dropLast())
            let plan = try Plans.make(index, slots: slots)
            #expect(plan.imbalance(slots: slots, in: index.video) < 1.1, "seed \(seed)")
            #expect(plan.redundancy(in: index.video) == 0, "seed \(seed)")
            #expect(plan.videoPasses.allSatisfy { (48...1400).contains($0.frames.count) }, "seed \(seed)")
        }
    }

    @Test("has passes of 200 bytes at most, and survives JSON")
    func json() throws {
        for plan in try Self.cases.prefix(60).map({ try $0.get().plan }) {
            for pass in plan.passes { #expect(try JSONEncoder().encode(pass).count <= 200) }
            #expect(try JSONDecoder().decode(Plan.self, from: JSONEncoder().encode(plan)) == plan)
        }
    }

    /// The plans of two hundred seeds: of one source and of several, copied and encoded, with little memory and with much.
    @Test("is as it was, to the byte")
    func golden() throws {
        let lines = try (0..<200 as Range<UInt64>).map(PlanOfSeed.line)
        try Golden.expect(lines.joined(separator: "\n"), is: "plans-of-seeds.txt")
    }

    @Test("is the same each time")
    func deterministic() throws {
        for trial in try Self.cases.prefix(30).map({ try $0.get() }) {
            #expect(try Case(seed: trial.seed).plan == trial.plan)
        }
    }
}
