package import ReelCore
package import ReelQueue
internal import ReelStore

/// One attempt at a job's probe by the process that holds it: makes the plan and publishes its passes.
package struct ProbeAttempt: Sendable {
    private let probe: Probe
    private let board: any Board
    private let claim: Claim

    package init(probe: Probe, board: any Board, claim: Claim) {
        self.probe = probe
        self.board = board
        self.claim = claim
    }

    private var store: any JobStore { probe.store }
    private var control: JobControl { JobControl(board: board, store: store) }

    /// Returns the job when its passes are on the board. Throws `.probeLost` if another process holds the probe by then,
    /// `.jobCancelled` if a user cancelled the job, and what reading and planning throw.
    package func run() async throws(ReelFailure) -> StoredJob {
        let record = try await store.job(claim.job).read()
        let sources = try await examineWithEarlyStart(record)
        let (job, unused) = try await probe.plan(claim.job, of: sources)
        let finished = await job.finished(in: sources.indexes)
        try await board.patiently { () throws(ReelFailure) in try await job.publish(on: board, claim, finished) }
        // From here on all slots are the whole job's. The early start may have ended; pausing it then fails, and need not
        // succeed.
        if let head = job.record.head { _ = try? await control.setPaused(head, true) }
        if let unused { try? await control.withdraw(unused) }
        return job
    }

    /// Examines the sources. If that takes long, an early start begins meanwhile.
    private func examineWithEarlyStart(_ record: JobRecord) async throws(ReelFailure) -> Probe.ProbedSources {
        let early = Task {
            try await Task.sleep(for: EarlyStart.patience)
            guard EarlyStart.isPossible(record) else { return }
            try await EarlyStart(probe: probe, board: board).begin(for: record.id)
        }
        do throws(ReelFailure) {
            let sources = try await probe.examine(record)
            early.cancel()
            // If the early start failed, the whole job goes on without it; if the source is at fault, that shows here, too.
            try? await early.value
            return sources
        } catch {
            early.cancel()
            await Task {
                try? await early.value
                // A job that is refused is removed with its early start; one that is interrupted is resumed later.
                guard [.source, .request].contains(error.owner) else { return }
                if let record = try? await store.job(claim.job).read() { try? await control.withdraw(headOf: record) }
            }.value
            throw error
        }
    }
}
