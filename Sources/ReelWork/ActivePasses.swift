internal import ReelCore
package import ReelEngine
package import ReelQueue
internal import Synchronization

/// Why a pass that is being worked on must end at once.
package enum StopReason: Sendable {
    /// The lease has lapsed, and another worker may have the pass by now.
    case lost
    /// The job was cancelled.
    case cancelled
    /// This worker ends, and hands the pass back.
    case drained
}

/// The passes that a worker holds. Slots enter and remove them, the heartbeat reports them to the board and stops those
/// that are lost.
package final class ActivePasses: Sendable {
    private struct Entry {
        let claim: Claim
        /// Frames of video that the pass makes.
        let frames: Int
        /// Chunks that were whole before this attempt, and their frames.
        var whole = (chunks: 0, frames: 0)
        var progress: EngineProgress?
        var stopReason: StopReason?
        let kill: KillSwitch

        /// Frames decoded and encoded so far. Only video counts: sound is counted in samples, and the frames that an
        /// assembly joins were counted before.
        var done: (decoded: Int, encoded: Int) {
            guard frames > 0 else { return (0, 0) }
            return (claim.pass == .assembly ? 0 : progress?.decoded ?? 0, whole.frames + (progress?.encoded ?? 0))
        }
    }

    private let entries = Mutex<[String: Entry]>([:])

    package init() {}

    /// Enters a pass.
    ///
    /// - Parameters:
    ///   - frames: how many frames of video the pass makes.
    ///   - kill: ends the work on it.
    package func add(_ claim: Claim, frames: Int, kill: KillSwitch) {
        entries.withLock { $0[claim.token] = Entry(claim: claim, frames: frames, kill: kill) }
    }

    /// Notes the chunks of a pass that were whole before this attempt, and how many frames they have.
    package func update(_ claim: Claim, wholeChunks chunks: Int, frames: Int) {
        entries.withLock { $0[claim.token]?.whole = (chunks, frames) }
    }

    /// Notes how far the engine is.
    package func update(_ claim: Claim, _ progress: EngineProgress) {
        entries.withLock { $0[claim.token]?.progress = progress }
    }

    /// Removes a pass that is not worked on any more.
    package func remove(_ claim: Claim) { entries.withLock { $0[claim.token] = nil } }

    /// Why the pass must end; nil if it may go on.
    package func stopReason(of claim: Claim) -> StopReason? { entries.withLock { $0[claim.token]?.stopReason } }

    /// Ends the work on a pass. The first reason counts. If the pass is not worked on any more, nothing happens.
    package func stop(token: String, because reason: StopReason) {
        let kill = entries.withLock { entries in
            if entries[token]?.stopReason == nil { entries[token]?.stopReason = reason }
            return entries[token]?.kill
        }
        kill?.fire()
    }

    /// Ends the work on all passes.
    package func stopAll(because reason: StopReason) {
        for token in entries.withLock({ Array($0.keys) }) { stop(token: token, because: reason) }
    }

    /// What the worker tells the board of the passes that it holds.
    package var report: [WorkerReport.Held] {
        entries.withLock { entries in
            entries.values.map { entry in
                WorkerReport.Held(
                    job: entry.claim.job, index: entry.claim.index, token: entry.claim.token, plan: entry.claim.plan,
                    decoded: entry.done.decoded, encoded: entry.done.encoded, wholeChunks: entry.whole.chunks)
            }
        }
    }
}
