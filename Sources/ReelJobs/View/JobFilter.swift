internal import ReelCore
internal import ReelQueue
internal import ReelStore

/// Which jobs of the board are meant.
package struct JobFilter: Hashable, Sendable {
    /// A state by which jobs are chosen.
    package enum State: String, CaseIterable, Sendable {
        case probing, running, assembling, done, failed, cancelled
        /// Paused by a user, whichever the state.
        case paused
        /// No worker works on it, for a reason that lists give, and it is not paused.
        case waiting

        /// The states of jobs that have not ended.
        package static let open: Set<State> = [.probing, .running, .assembling, .paused, .waiting]
        /// The states of jobs that have ended.
        package static let ended: Set<State> = [.done, .failed, .cancelled]
    }

    /// In any of these states; empty for all.
    package var states: Set<State>
    /// With all of these labels.
    package var labels: [String: String]
    /// Submitted at this moment or later, in seconds since 1970; nil for any time.
    package var since: Double?
    /// The most jobs, the ones submitted last. Nil for all.
    package var limit: Int?

    /// A filter that leaves nothing out but what its values say.
    package init(states: Set<State> = [], labels: [String: String] = [:], since: Double? = nil, limit: Int? = nil) {
        self.states = states
        self.labels = labels
        self.since = since
        self.limit = limit
    }

    /// Whether it leaves nothing out.
    package var isOpen: Bool { self == JobFilter() }

    /// Whether a job is meant, apart from the limit.
    func admits(_ job: JobStatus, workers: [WorkerStatus]) -> Bool {
        job.created >= since ?? 0 && (states.isEmpty || !states.isDisjoint(with: job.filteredBy(workers)))
            && (labels.isEmpty || labels.allSatisfy { job.said?.labels[$0.key] == $0.value })
    }
}

extension JobStatus {
    /// The states by which it is chosen.
    fileprivate func filteredBy(_ workers: [WorkerStatus]) -> Set<JobFilter.State> {
        let own = JobFilter.State(rawValue: state.rawValue)
        let halt: JobFilter.State? =
            switch WaitReason(self, workers: workers) {
            case .paused: .paused
            case .some: .waiting
            case nil: nil
            }
        return Set([own, halt].compactMap(\.self))
    }
}
