internal import Foundation
internal import Logging
internal import ReelCore
package import ReelQueue
package import ReelStore

/// What a worker has claimed, with the store's facts about its job.
package struct ClaimedWork: Sendable {
    package let claim: Claim
    /// The job's record as it was when the work was claimed.
    package let record: JobRecord
    let entry: any JobEntry
    /// What the job's plan says; nil for planning, which makes the plan.
    package let context: JobContext?

    /// How many frames of video the work makes. An assembly makes frames only if the source's packets are copied;
    /// otherwise it joins frames that passes have made.
    var frames: Int {
        guard let plan = context?.plan else { return 0 }
        return pass.map(plan.frames) ?? (plan.video.isPassthrough ? plan.frameCount : 0)
    }

    /// The pass, as the plan lists it; nil for an assembly and for planning.
    var pass: Pass? {
        guard let passes = context?.plan.passes, passes.indices.contains(claim.index) else { return nil }
        return passes[claim.index]
    }

    /// The work as the log names it.
    var description: String {
        let job = "job \(claim.job)"
        let named = "\(job) (\(URL(filePath: record.source.path).lastPathComponent))"
        return switch pass {
        case .audio(let track): "pass \(claim.index) of \(named), audio track \(track)"
        case .video(let pass):
            "pass \(claim.index) of \(named), frames \(pass.frames.lowerBound)..<\(pass.frames.upperBound)"
        case nil: claim.work == .planning ? "probe of \(job)" : "assembly of \(named)"
        }
    }

    /// What an event of the log is about, by names.
    var facts: Logger.Metadata {
        var facts: Logger.Metadata = ["job": "\(claim.job)", "source": "\(record.source.path)"]
        if context != nil { facts["pass"] = .stringConvertible(claim.index) }
        return facts
    }
}
