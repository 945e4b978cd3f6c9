import ReelCore
import ReelRandom

/// Something to plan: sources, a spec and machines, all of which a seed decides.
struct PlanOfSeed {
    let indexes: [SourceIndex]
    private(set) var spec: JobSpec
    let planner: Planner
    private let encoder: String?

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func happens(in trials: Int) -> Bool { Int.random(in: 0..<trials, using: &random) == 0 }
        let isEdit = Bool.random(using: &random)
        let length = [20, 400, 3000].randomElement(using: &random) ?? 20
        indexes = (0..<(isEdit ? Int.random(in: 1...3, using: &random) : 1)).map { _ in
            PlanOfSeed.index(most: length, using: &random)
        }
        spec = JobSpec(container: Container.ofPictures.randomElement(using: &random) ?? .mkv)
        if happens(in: 3) { spec.passFrames = Int.random(in: 1...300, using: &random) }
        if happens(in: 8) { spec.threads = Int.random(in: 1...4, using: &random) }
        if happens(in: 4) { spec.memory = Int64.random(in: 128...1024, using: &random) << 20 }
        if happens(in: 5) { spec.mostFrames = Rational(Int64.random(in: 5...30, using: &random)) }
        if isEdit {
            spec.edit = PlanOfSeed.edit(of: indexes, using: &random)
        } else {
            if happens(in: 3) { spec.from = .frames(Int64(indexes[0].video.frames.count / 3)) }
            if happens(in: 4) { spec.timestamps = .source }
        }
        let budget = Int64.random(in: 64...2048, using: &random) << 20
        planner = Planner(
            slots: happens(in: 4) ? 64 : Int.random(in: 1...12, using: &random),
            memory: MemoryRequest(budget: budget, limit: happens(in: 4) ? 2 * budget : nil))
        encoder = happens(in: 8) ? nil : (Plans.weights.keys.sorted() + ["libx264"]).randomElement(using: &random)
    }

    /// The plan with the number of threads that the planner chooses. Fails as planning does.
    func plan() throws(ReelFailure) -> Plan {
        var input = PlanInput(
            indexes: indexes, indexHashes: indexes.map { _ in "" }, spec: spec, video: try video(),
            audio: spec.edit == nil ? indexes[0].audio.indices.map(Plans.audio) : [])
        if case .encode(var encoding) = input.video {
            encoding.threads = try planner.threads(input)
            input.video = .encode(encoding)
        }
        return try planner.plan(input)
    }

    /// The chosen encoder with one thread, or passthrough. Fails as planning does.
    private func video() throws(ReelFailure) -> VideoTarget {
        let target = encoder.map { Plans.target($0) } ?? Plans.passthrough
        return target.on(try spec.clock(of: indexes, encoder: target.encoding?.traits))
    }

    private static func index(most: Int, using random: inout SplitMix64) -> SourceIndex {
        if Int.random(in: 0..<3, using: &random) == 0 { return Indexes.random(using: &random, frames: most) }
        let frames = Int.random(in: 1...most, using: &random)
        let gap = [1, 12, 48, 250, most].randomElement(using: &random) ?? 1
        let rate = [Rational(25), Rational(30000, 1001), Rational(24)].randomElement(using: &random) ?? Rational(25)
        var index = Indexes.regular(frames: frames, keysAt: Array(stride(from: 0, to: frames, by: gap)), rate: rate)
        index.format = ["mov,mp4,m4a", "matroska,webm", "flv"].randomElement(using: &random) ?? "flv"
        index.audio = (0..<Int.random(in: 0...2, using: &random)).map(Indexes.audioTrack)
        return index
    }

    private static func edit(of indexes: [SourceIndex], using random: inout SplitMix64) -> Edit {
        var edit = Edit(clips: [], turn: Turn.allCases.randomElement(using: &random) ?? .once)
        for number in 0..<Int.random(in: 1...4, using: &random) {
            let source = Int.random(in: 0..<indexes.count, using: &random)
            let kind = number == 0 ? 9 : Int.random(in: 0...9, using: &random)
            if kind == 0 {
                edit.clips.append(.gap(Rational(1, 2)))
            } else {
                let count = indexes[source].video.frames.count
                let first = Int.random(in: 0..<count, using: &random)
                edit.clips.append(
                    EditClip(
                        source: source, from: .frames(Int64(first / 2)), to: .frames(Int64(first + 1)),
                        play: Play.allCases.randomElement(using: &random) ?? .forward,
                        times: Int.random(in: 1...3, using: &random),
                        speed: [Rational(1), Rational(1), Rational(3, 2)].randomElement(using: &random) ?? Rational(1),
                        still: kind == 1 ? Rational(2, 3) : nil, title: kind == 2 ? "part \(number)" : nil))
            }
        }
        return edit
    }

    /// What came of a seed in a line: the plan's figures and a hash of its bytes (FNV-1a), or the code of the failure.
    static func line(_ seed: UInt64) throws -> String {
        do {
            let plan = try PlanOfSeed(seed: seed).plan()
            let hash = try CanonicalJSON.bytes(of: plan).reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01b3
            }
            let threads = plan.video.encoding?.threads ?? 0
            return "\(seed): \(plan.passes.count) passes, \(threads) threads, \(String(hash, radix: 16))"
        } catch let failure as ReelFailure {
            return "\(seed): \(failure.reason.code)"
        }
    }
}
