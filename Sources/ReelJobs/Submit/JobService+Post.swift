package import ReelCore
internal import ReelQueue
package import ReelStore

/// A job that was posted.
package struct PostedJob: Hashable, Sendable {
    /// The job.
    package let id: JobID
    /// The state in which it was found, or `probing` if it was begun.
    package let state: JobState
    /// Whether this call made the job. If several callers post the same job at once, that is true for exactly one of them.
    package let isNew: Bool
}

extension JobService {
    /// Begins a job and leaves all of it to the workers, its planning, too: returns before its source has been read. A job that
    /// is on the board or done stays as it is; one that had failed or was cancelled begins anew.
    ///
    /// What reading the source shows fails the job later. A job that fails so stays on the board, as any that fails.
    ///
    /// - Parameters:
    ///   - wanted: from `JobRecord.init(submitting:spec:terms:submission:within:stages:)`.
    ///   - recorded: called when the store has the job's record, and no worker can learn of the job yet.
    package func post(
        _ wanted: JobRecord, recorded: () throws(ReelFailure) -> Void = {}
    ) async throws(ReelFailure) -> PostedJob {
        let admission = JobAdmission(board: board, store: try requiredStore(), wanted: wanted)
        var isNew = false
        var state = JobState.probing
        let found = try await admission.admit(
            created: { created throws(ReelFailure) in
                isNew = isNew || created
                try recorded()
            }, known: { state = $0 })
        guard case .unplanned(let claim) = found else {
            try await admission.describe()
            return PostedJob(id: wanted.id, state: state, isNew: isNew)
        }
        do throws(ReelFailure) { try await admission.describe(claim) } catch {
            if let claim { try? await handBack(claim, by: admission) }
            throw error
        }
        if let claim { try await handBack(claim, by: admission) }
        return PostedJob(id: wanted.id, state: state, isNew: isNew)
    }

    /// Hands the planning back, uncharged, so that a worker takes it.
    private func handBack(_ claim: Claim, by admission: JobAdmission) async throws(ReelFailure) {
        _ = try await board.leave(admission.wanted.id, waiter: admission.name.text, claim: claim)
    }
}
