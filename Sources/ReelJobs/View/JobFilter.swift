internal import ReelCore
internal import ReelQueue
internal import ReelStore

/// Which jobs of the board are meant.
public struct JobFilter: Hashable, Sendable {
    /// A state by which jobs are chosen.
    public enum State: String, CaseIterable, Sendable {
        case probing, running, assembling, done, failed, cancelled
        /// Paused by a user, whichever the state.
        case paused

        /// The states of jobs that have not ended.
        public static let open: Set<State> = [.probing, .running, .assembling, .paused]
        /// The states of jobs that have ended.
        public static let ended: Set<State> = [.done, .failed, .cancelled]
    }

    /// In any of these states; empty for all.
    public var states: Set<State>
    /// With all of these labels.
    public var labels: [String: String]
    /// Submitted at this moment or later, in seconds since 1970; nil for any time.
    public var since: Double?
    /// The most jobs: those that were submitted last. Nil for all.
    public var limit: Int?

    /// A filter that leaves nothing out but what its values say.
    public init(states: Set<State> = [], labels: [String: String] = [:], since: Double? = nil, limit: Int? = nil) {
        self.states = states
        self.labels = labels
        self.since = since
        self.limit = limit
    }

    /// Whether it leaves nothing out.
    public var isOpen: Bool { self == JobFilter() }

    /// Whether a job is meant, apart from the limit.
    func admits(_ job: JobStatus) -> Bool {
        job.created >= since ?? 0 && (states.isEmpty || !states.isDisjoint(with: job.filteredBy))
            && (labels.isEmpty || labels.allSatisfy { job.said?.labels[$0.key] == $0.value })
    }
}

extension JobStatus {
    /// The states by which it is chosen.
    fileprivate var filteredBy: Set<JobFilter.State> {
        let own = JobFilter.State(rawValue: state.rawValue)
        return Set([own, isPaused && !state.isTerminal ? .paused : nil].compactMap(\.self))
    }
}
