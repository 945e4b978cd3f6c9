internal import Foundation
internal import ReelCore

/// What the parts of a job cost on one slot, in seconds. The defaults are those of 1080p film, as `Benchmarks/run`
/// measured them at commit 6f15084; `ClusterSection` measures them anew.
struct CurveCosts: Codable, Sendable {
    /// Decoding and encoding a frame.
    var decode = 0.009_35
    var encode = 0.035_58
    /// Reversing a second of one track's sound.
    var sound = 0.0277
    /// A pass beside its frames: the claim, the start of an engine, a seek, the report.
    var pass = 0.161
    /// Reading the source, and then choosing encoders, planning and publishing.
    var recon = 1.5
    var planning = 0.3
    /// Joining a byte of segments that are there.
    var join = 1.0e-9
    /// The assembly after its last segment, and for each byte of the output: table, verification, sync.
    var afterLast = 0.3
    var verify = 1.0e-9
    /// Putting a byte of the output into the place that the user asked for.
    var delivery = 1.0e-9
    /// Bytes of the output for a frame, and for a second of one track's sound.
    var frameBytes = 21_300.0
    var soundBytes = 16_000.0

    /// The same costs if everything that engines do took `factor` times as long.
    func stretched(by factor: Double) -> CurveCosts {
        var costs = self
        for part: WritableKeyPath<CurveCosts, Double> in [
            \.decode, \.encode, \.sound, \.pass, \.join, \.afterLast, \.verify,
        ] {
            costs[keyPath: part] *= factor
        }
        return costs
    }

    static func read(from path: String) throws -> CurveCosts {
        try JSONDecoder().decode(CurveCosts.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path))
    }
}

/// What the passes of a plan cost.
struct CostedPlan {
    let plan: Plan
    /// Seconds of each pass, and bytes of its segments, in the plan's order.
    let seconds: [Double]
    let bytes: [Double]

    /// `indexes` are those of the plan's sources. The plan's passes of sound share the length of the output equally,
    /// however many they are.
    init(_ plan: Plan, indexes: [SourceIndex], costs: CurveCosts) {
        self.plan = plan
        let length = plan.clips.reduce(Rational(0)) { max($0, $1.map.offset + $1.map.duration) }.approximate
        let soundPasses = plan.passes.filter { !$0.isVideo }.count
        let heard = length * Double(plan.audio.count) / Double(max(soundPasses, 1))
        seconds = plan.passes.map { pass in
            guard case .video(let video) = pass else { return costs.pass + heard * costs.sound }
            let points = indexes[plan.clips[video.clips[0]].source].video.randomAccessPoints
            // Frames that are decoded and discarded.
            let lead = max(0, video.frames.lowerBound - Int(points[video.randomAccessPoint].frame))
            return costs.pass + Double(lead + video.frames.count) * costs.decode
                + Double(plan.frames(of: pass)) * costs.encode
        }
        bytes = plan.passes.map { pass in
            pass.isVideo ? Double(plan.frames(of: pass)) * costs.frameBytes : heard * costs.soundBytes
        }
    }
}

extension Pass {
    var isVideo: Bool { if case .video = self { true } else { false } }
}
