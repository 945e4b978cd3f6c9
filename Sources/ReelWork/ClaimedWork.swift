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
        return claim.work.pass.map(plan.frames) ?? (plan.video.isPassthrough ? plan.frameCount : 0)
    }

    /// The work as the log names it.
    var description: String {
        let job = "job \(claim.job)"
        let named = "\(job) (\(URL(filePath: record.source.path).lastPathComponent))"
        return switch claim.work {
        case .planning: "probe of \(job)"
        case .assembly: "assembly of \(named)"
        case .pass(.audio(let track)): "pass \(claim.index) of \(named), audio track \(track)"
        case .pass(.video(let pass)):
            "pass \(claim.index) of \(named), frames \(pass.frames.lowerBound)..<\(pass.frames.upperBound)"
        }
    }

    /// What an event of the log is about, by names.
    var facts: Logger.Metadata {
        var facts: Logger.Metadata = ["job": "\(claim.job)", "source": "\(record.source.path)"]
        if context != nil { facts["pass"] = .stringConvertible(claim.index) }
        return facts
    }
}
