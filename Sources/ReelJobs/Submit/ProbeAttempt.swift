package import ReelCore
package import ReelQueue
internal import ReelStore

/// One attempt at a job's probe by whoever holds it: makes the plan and puts its passes on the board.
package struct ProbeAttempt: Sendable {
    private let submit: Submit
    private let board: any Board
    private let claim: Claim

    package init(submit: Submit, board: any Board, claim: Claim) {
        self.submit = submit
        self.board = board
        self.claim = claim
    }

    private var store: Store { submit.store }
    private var control: JobControl { JobControl(board: board, store: store) }

    /// The job when its passes are on the board. Throws `.probeLost` where another holds the probe by then, and what
    /// probing throws.
    package func run() async throws(ReelFailure) -> PlacedJob {
        let record = try store.job(claim.job).read()
        let findings = try await look(record)
        let (job, unused) = try submit.probe.place(claim.job, findings)
        let finished = job.finished(in: [findings.index])
        let published = try await board.patiently { () throws(ReelFailure) in
            try await job.publish(on: board, claim, finished)
        }
        switch published {
        case .published: break
        case .lost: throw ReelFailure(.probeLost(job: claim.job))
        case .cancelled: throw ReelFailure(.jobCancelled(job: claim.job))
        }
        // From here on the whole job has all slots. That the early one may have ended is no matter.
        if let head = job.record.head { _ = try? await control.setPaused(head, true) }
        if let unused { try? await control.withdraw(unused) }
        return job
    }

    private func look(_ record: JobRecord) async throws(ReelFailure) -> Probe.Findings {
        let early = Task {
            try await Task.sleep(for: EarlyStart.patience)
            guard EarlyStart.isPossible(record) else { return }
            try await EarlyStart(submit: submit, board: board).begin(for: record.id)
        }
        do throws(ReelFailure) {
            let findings = try await submit.probe.look(record)
            early.cancel()
            // Why there is none is no matter: if it is the source's fault, that shows now.
            try? await early.value
            return findings
        } catch {
            early.cancel()
            await Task {
                try? await early.value
                // What was refused leaves no part of it behind; what is only interrupted is gone on with.
                guard [.source, .request].contains(error.owner) else { return }
                if let record = try? store.job(claim.job).read() { try? await control.withdraw(headOf: record) }
            }.value
            throw error
        }
    }
}
