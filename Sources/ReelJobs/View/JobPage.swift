package import ReelCore
package import ReelQueue
internal import ReelStore

package struct JobFilter: Hashable, Sendable {
    package enum State: String, CaseIterable, Sendable {
        case probing, running, assembling, done, failed, cancelled
        /// Paused by a user, whichever the state.
        case paused
        /// No worker works on it, for a reason that lists give, and it is not paused.
        case waiting

        package static let open: Set<State> = [.probing, .running, .assembling, .paused, .waiting]
        package static let ended: Set<State> = [.done, .failed, .cancelled]
    }

    /// In any of these states; empty for all.
    package var states: Set<State>
    package var labels: [String: String]
    /// Submitted at this moment or later, in seconds since 1970; nil for any time.
    package var since: Double?
    package var limit: Int?

    package init(states: Set<State> = [], labels: [String: String] = [:], since: Double? = nil, limit: Int? = nil) {
        self.states = states
        self.labels = labels
        self.since = since
        self.limit = limit
    }

    package var isOpen: Bool { self == JobFilter() }

    /// Whether a job is meant, apart from the limit.
    func admits(_ job: JobStatus, workers: [WorkerStatus]) -> Bool {
        job.created >= since ?? 0 && (states.isEmpty || !states.isDisjoint(with: job.filteredBy(workers)))
            && (labels.isEmpty || labels.allSatisfy { job.said?.labels[$0.key] == $0.value })
    }
}

extension JobStatus {
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

    fileprivate func matches(_ text: String?) -> Bool {
        guard let text = text?.lowercased(), !text.isEmpty else { return true }
        let names = [said?.name, job.source.split(separator: "/").last.map(String.init)].compactMap { $0?.lowercased() }
        return job.id.text.hasPrefix(text) || names.contains { $0.contains(text) }
    }
}

/// A part of the board's jobs, the one that was submitted last first.
package struct JobPage: Sendable {
    package var jobs: [JobView] = []
    /// Jobs that cannot be read, with the reason; of the whole board the jobs that were set aside.
    package var unreadable: [JobID: ReelFailure] = [:]
    /// Where the next page begins; nil if there are no more jobs.
    package var next: JobPlace?
}

extension JobService {
    package static let jobsOfAPage = 1000

    /// A page of the jobs that a filter admits, the latest first. The filter's limit does not matter.
    ///
    /// A call looks at `jobsOfAPage` jobs at most. So a page may have fewer jobs than asked for, or none, although more
    /// follow: there are more as long as `next` is there.
    ///
    /// - Parameters:
    ///   - text: only jobs whose id begins so, or whose name or source's name has it, in any case; nil for all.
    ///   - place: `next` of the page before; nil for the first page. Jobs that come or go meanwhile shift no page.
    ///   - count: the most jobs, at least 1.
    package func page(
        _ filter: JobFilter = JobFilter(), matching text: String? = nil, before place: JobPlace? = nil, count: Int
    ) async throws(ReelFailure) -> JobPage {
        let workers = try await board.workers()
        var page = JobPage(next: place)
        var rest = JobService.jobsOfAPage
        while rest > 0 {
            // At least 25, since a filter may admit few of them.
            let wanted = min(100, rest, max(25, count - page.jobs.count))
            let places = try await board.jobs(before: page.next, count: wanted)
            let list = try await board.list(places.map(\.id))
            page.unreadable.merge(list.unreadable) { $1 }
            let found = Dictionary(list.jobs.map { ($0.job.id, $0) }, uniquingKeysWith: { first, _ in first })
            for place in places {
                page.next = place
                guard let status = found[place.id] else { continue }
                // The jobs are in the order of their submission.
                if let since = filter.since, status.created < since {
                    page.next = nil
                    return page
                }
                guard filter.admits(status, workers: workers), status.matches(text) else { continue }
                page.jobs.append(await view(status, workers))
                if page.jobs.count >= count { return page }
            }
            rest -= places.count
            if places.count < wanted {
                page.next = nil
                return page
            }
        }
        return page
    }

    func view(_ status: JobStatus, _ workers: [WorkerStatus]) async -> JobView {
        let reason = WaitReason(status, workers: workers)
        let outline = try? await store?.job(status.job.id).outline()
        return JobView(
            status, options: outline?.options, output: outline?.result, waitReason: reason,
            waitAdvice: reason.flatMap(advice))
    }

    /// Adds an entry to the board's journal: a change that a server was asked for, and by whom.
    package func note(_ action: JournalAction) async throws(ReelFailure) { try await board.note(action) }

    /// Entries of the board's journal, the latest first, `count` at most.
    package func journal(
        before place: BoardEvent.Place? = nil, count: Int
    ) async throws(ReelFailure) -> [JournalEntry] { try await board.journal(before: place, count: count) }
}
