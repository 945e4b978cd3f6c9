internal import Foundation
internal import Logging
internal import ReelCore
package import ReelQueue
internal import ReelStore

/// The work that a worker has claimed.
package enum ClaimedWork: Sendable {
    case pass(ClaimedPass)
    /// The job has no plan yet: this worker makes one.
    case probe(Claim)

    package var claim: Claim {
        switch self {
        case .pass(let pass): pass.claim
        case .probe(let claim): claim
        }
    }
}

/// A pass that a worker has claimed, with the store's facts about its job.
package struct ClaimedPass: Sendable {
    package let claim: Claim
    package let context: JobContext

    var isAssembly: Bool { claim.pass == .assembly }

    /// How many frames of video the pass makes. An assembly makes frames only if the source's packets are copied;
    /// otherwise it joins frames that other passes made.
    var frames: Int {
        switch claim.pass {
        case .video: context.plan.frames(of: claim.pass)
        case .audio, .probe: 0
        case .assembly: context.plan.video.isPassthrough ? context.plan.frameCount : 0
        }
    }

    /// The pass as the log names it.
    var description: String {
        let job = "job \(claim.job) (\(name))"
        return switch claim.pass {
        case .assembly: "assembly of \(job)"
        case .probe: "probe of \(job)"
        case .audio(let track): "pass \(claim.index) of \(job), audio track \(track)"
        case .video(let pass):
            "pass \(claim.index) of \(job), frames \(pass.frames.lowerBound)..<\(pass.frames.upperBound)"
        }
    }

    /// What an event of the log is about, by names.
    var facts: Logger.Metadata {
        ["job": "\(claim.job)", "pass": .stringConvertible(claim.index), "source": "\(context.record.source.path)"]
    }

    private var name: String { URL(filePath: context.record.source.path).lastPathComponent }
}
