internal import ReelCore
internal import ReelEngine
internal import ReelQueue
internal import Synchronization

/// Why a pass that is being worked on must end at once.
enum Verdict: Sendable {
    /// Another worker may have it by now.
    case lost
    /// Its job was cancelled.
    case cancelled
    /// This worker ends and hands it back.
    case drained
}

/// The passes that this worker holds: slots enter them, the heartbeat reports them and says which are lost.
final class Holdings: Sendable {
    private struct Entry {
        let claim: Claim
        /// Frames of video that it makes.
        let due: Int
        /// Chunks that were whole before, and their frames.
        var whole = (chunks: 0, frames: 0)
        var progress: EngineProgress?
        var verdict: Verdict?
        let kill: KillSwitch

        /// Of video: sound is counted in samples, and frames that an assembly joins were counted before.
        var frames: (decoded: Int, encoded: Int) {
            guard due > 0 else { return (0, 0) }
            return (claim.pass == .assembly ? 0 : progress?.decoded ?? 0, whole.frames + (progress?.encoded ?? 0))
        }
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// - Parameter frames: of video that the pass makes.
    func add(_ claim: Claim, frames: Int, kill: KillSwitch) {
        entries.withLock { $0[claim.token] = Entry(claim: claim, due: frames, kill: kill) }
    }

    func update(_ claim: Claim, wholeChunks chunks: Int, frames: Int) {
        entries.withLock { $0[claim.token]?.whole = (chunks, frames) }
    }

    func remove(_ claim: Claim) { entries.withLock { $0[claim.token] = nil } }

    func update(_ claim: Claim, _ progress: EngineProgress) {
        entries.withLock { $0[claim.token]?.progress = progress }
    }

    func verdict(on claim: Claim) -> Verdict? { entries.withLock { $0[claim.token]?.verdict } }

    /// Ends the work on a pass; one that is no longer held has ended by itself.
    func judge(token: String, _ verdict: Verdict) {
        let kill = entries.withLock { entries in
            if entries[token]?.verdict == nil { entries[token]?.verdict = verdict }
            return entries[token]?.kill
        }
        kill?.fire()
    }

    func judgeAll(_ verdict: Verdict) {
        for token in entries.withLock({ Array($0.keys) }) { judge(token: token, verdict) }
    }

    var isEmpty: Bool { entries.withLock(\.isEmpty) }

    var report: [WorkerReport.Held] {
        entries.withLock { entries in
            entries.values.map { entry in
                WorkerReport.Held(
                    job: entry.claim.job, index: entry.claim.index, token: entry.claim.token, plan: entry.claim.plan,
                    decoded: entry.frames.decoded, encoded: entry.frames.encoded, wholeChunks: entry.whole.chunks)
            }
        }
    }
}

/// Kills what it was armed with, once; it may be fired before.
final class KillSwitch: Sendable {
    private struct State {
        var fired = false
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    func arm(_ action: @escaping @Sendable () -> Void) {
        let late = state.withLock { state in
            state.action = action
            return state.fired
        }
        if late { action() }
    }

    func fire() {
        let action = state.withLock { state in
            state.fired = true
            return state.action
        }
        action?()
    }
}
