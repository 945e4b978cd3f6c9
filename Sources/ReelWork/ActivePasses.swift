internal import Logging
internal import ReelCore
package import ReelEngine
package import ReelHost
package import ReelQueue
internal import ReelWords
internal import Synchronization

package enum StopReason: Sendable {
    /// The lease has lapsed, and another worker may have the pass by now.
    case lost
    case cancelled
    /// This worker ends, and hands the pass back.
    case drained
}

/// The passes that a worker holds. Slots enter and remove them; the heartbeat reports them and stops lost ones.
package final class ActivePasses: Sendable {
    private struct Entry {
        let claim: Claim
        /// Frames that the pass makes. An assembly reports the frames that it writes, which other passes have made and
        /// counted, unless it copies the source's packets; it decodes none, and reports thousandths of its work instead.
        let frames: Int
        /// Chunks that were whole before this attempt, and their frames.
        var whole = (chunks: 0, frames: 0)
        var progress: EngineProgress?
        var stopReason: StopReason?
        let kill: KillSwitch

        var done: (decoded: Int, encoded: Int) {
            switch progress {
            case .video(let decoded, let encoded, _): (decoded, whole.frames + encoded)
            case .assembly(_, let written, let thousandths): (min(thousandths, 1000), min(written, frames))
            case .recon, .sound, nil: (0, whole.frames)
            }
        }
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// Why all passes must end, also passes that are entered from now on.
        var stopReason: StopReason?
    }

    private let state = Mutex(State())

    package init() {}

    /// Enters a pass. If all passes were stopped before, because it was being claimed meanwhile, it is stopped at once.
    package func add(_ claim: Claim, frames: Int, kill: KillSwitch) {
        let mustStop = state.withLock { state in
            state.entries[claim.token] = Entry(claim: claim, frames: frames, stopReason: state.stopReason, kill: kill)
            return state.stopReason != nil
        }
        if mustStop { kill.fire() }
    }

    /// Notes the chunks of a pass that were whole before this attempt, and how many frames they have.
    package func update(_ claim: Claim, wholeChunks chunks: Int, frames: Int) {
        state.withLock { $0.entries[claim.token]?.whole = (chunks, frames) }
    }

    package func update(_ claim: Claim, _ progress: EngineProgress) {
        state.withLock { $0.entries[claim.token]?.progress = progress }
    }

    package func remove(_ claim: Claim) { state.withLock { $0.entries[claim.token] = nil } }

    /// Why the pass must end; nil if it may go on.
    package func stopReason(of claim: Claim) -> StopReason? { state.withLock { $0.entries[claim.token]?.stopReason } }

    /// Ends the work on a pass. The first reason counts. If the pass is not worked on any more, nothing happens.
    package func stop(token: String, because reason: StopReason) {
        let kill = state.withLock { state in
            if state.entries[token]?.stopReason == nil { state.entries[token]?.stopReason = reason }
            return state.entries[token]?.kill
        }
        kill?.fire()
    }

    /// Ends the work on all passes, for good: one that is entered later ends at once.
    package func stopAll(because reason: StopReason) {
        let tokens = state.withLock { state in
            state.stopReason = reason
            return Array(state.entries.keys)
        }
        for token in tokens { stop(token: token, because: reason) }
    }

    package var count: Int { state.withLock { $0.entries.count } }

    package var report: [WorkerReport.Held] {
        state.withLock { state in
            state.entries.values.map { entry in
                WorkerReport.Held(
                    job: entry.claim.job, index: entry.claim.index, token: entry.claim.token, plan: entry.claim.plan,
                    decoded: entry.done.decoded, encoded: entry.done.encoded, wholeChunks: entry.whole.chunks,
                    frames: entry.frames)
            }
        }
    }
}

/// Tells the board which passes the worker holds, and learns which of them it has lost. It runs on the executor of its
/// own board, so that nothing else in this process delays a beat.
package actor Heartbeat {
    private let environment: WorkerEnvironment
    private let board: any Board
    private let interval: Duration
    private let manager: ServiceManager?
    private let report: @Sendable () -> WorkerReport

    package nonisolated var unownedExecutor: UnownedSerialExecutor { board.unownedExecutor }

    /// - Parameters:
    ///   - board: for this role alone.
    ///   - report: the worker's identity, load and notes at that moment.
    package init(
        _ environment: WorkerEnvironment, board: any Board, interval: Duration, manager: ServiceManager? = nil,
        report: @escaping @Sendable () -> WorkerReport
    ) {
        self.environment = environment
        self.board = board
        self.interval = interval
        self.manager = manager
        self.report = report
    }

    /// Beats until cancelled, then takes the worker out of the registry.
    func run() async {
        while !Task.isCancelled {
            await beat()
            environment.notes.giveSign()
            manager?.tell(.alive)
            await environment.clock.sleep(for: interval)
        }
        // One attempt: the registry forgets the worker by itself, so the worker does not wait for Redis to end.
        try? await board.depart(environment.worker)
    }

    /// Beats once: stops passes that were lost or cancelled, and heeds what a user has drained.
    package func beat() async {
        do throws(ReelFailure) {
            let reply = try await board.beat(report())
            environment.notes.setRedis(isUp: true)
            for (token, answer) in reply.answers {
                switch answer {
                case .ok: continue
                case .lost: environment.passes.stop(token: token, because: .lost)
                case .cancel: environment.passes.stop(token: token, because: .cancelled)
                }
            }
            environment.heed(reply.drained)
        } catch {
            environment.notes.setRedis(isUp: false)
            environment.log.debug("no beat: \(error.words)")
        }
    }
}
