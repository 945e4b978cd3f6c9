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

    /// Whether only jobs that have not ended are meant.
    var isOfUnfinished: Bool { !states.isEmpty && states.isSubset(of: State.open) }

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
            let places = try await board.jobs(
                before: page.next, count: wanted, unfinished: filter.isOfUnfinished)
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

    package func note(_ action: JournalAction) async throws(ReelFailure) { try await board.note(action) }

    package func journal(
        before place: BoardEvent.Place? = nil, count: Int
    ) async throws(ReelFailure) -> [JournalEntry] { try await board.journal(before: place, count: count) }
}

/// A pass as lists show it. Names only ever get added; the server's openapi.json explains them.
package struct JobPass: Codable, Hashable, Sendable {
    package enum State: String, CaseIterable, Codable, Sendable {
        case waiting, live, retrying, exhausted, done
    }

    package var index: Int
    package var kind: String
    package var state: State
    package var firstFrame: Int?
    package var endFrame: Int?
    package var worker: String?
    package var framesEncoded: Int?
    package var attempts: [String: Int]
}

package struct PassPage: Codable, Hashable, Sendable {
    package var passes: [JobPass]
    /// The index at which the next page begins; missing on the last page.
    package var next: String?
}

extension JobService {
    /// How many passes are looked at for one page: a state that few are in must not keep a caller waiting.
    private static let passesOfAPage = 2000

    /// A page of a job's passes, in the plan's order. Throws `.jobUnknown` if the board does not have the job.
    ///
    /// - Parameters:
    ///   - first: the index from which on passes are looked at.
    package func passes(
        of id: JobID, in state: JobPass.State? = nil, from first: Int = 0, limit: Int
    ) async throws(ReelFailure) -> PassPage {
        guard let status = try await board.status(id) else { throw ReelFailure(.jobUnknown(job: id)) }
        let (job, count) = (status.job, status.job.passCount)
        let plan = count > 0 ? try? await store?.job(id).readPlan(job.plan) : nil
        var page = PassPage(passes: [], next: nil)
        var place = first
        while place < count, page.passes.count < limit, place - first < JobService.passesOfAPage {
            let range = place..<min(place + 200, count)
            guard let looks = try await board.passes(id, in: range) else { throw ReelFailure(.jobUnknown(job: id)) }
            for (index, look) in zip(range, looks) {
                guard page.passes.count < limit else { break }
                let known = plan.flatMap { $0.passes.indices.contains(index) ? $0.passes[index] : nil }
                let pass = JobPass(index, look, job.work(at: index) ?? .video, known)
                if state == nil || pass.state == state { page.passes.append(pass) }
                place = index + 1
            }
        }
        page.next = place < count ? String(place) : nil
        return page
    }
}

extension JobPass {
    fileprivate init(_ index: Int, _ look: PassLook, _ work: Work, _ pass: Pass?) {
        let state: State =
            if look.isFinished { .done } else if look.worker != nil { .live } else if look.isExhausted {
                .exhausted
            } else { look.isWaiting ? .retrying : .waiting }
        self.init(
            index: index, kind: work.rawValue, state: state, worker: look.worker?.text,
            framesEncoded: look.framesEncoded, attempts: look.attempts)
        if case .video(let video) = pass { (firstFrame, endFrame) = (video.frames.lowerBound, video.frames.upperBound) }
    }
}

/// How far a clip of an edit is. Clips that show the same share their passes, and are one. docs/json.md explains the
/// names.
package struct ClipProgress: Codable, Hashable, Sendable {
    package var source: String?
    package var firstFrame: Int
    package var endFrame: Int
    package var direction: Direction
    package var passes: Int
    package var passesDone: Int
    package var passesLive: Int

    package init(
        source: String?, frames: Range<Int>, direction: Direction, passes: Int, passesDone: Int = 0, passesLive: Int = 0
    ) {
        self.source = source
        (firstFrame, endFrame) = (frames.lowerBound, frames.upperBound)
        self.direction = direction
        self.passes = passes
        self.passesDone = passesDone
        self.passesLive = passesLive
    }
}

/// Tells how far the clips of one job are, from its plan and the state of each of its passes.
struct ClipSight {
    private let entry: any JobEntry
    private let board: any Board
    private var known: (passes: Int, clips: [(clip: ClipProgress, passes: [Int])])?

    /// Each pass is looked at, so clips of jobs with more passes are not told.
    private static let mostPasses = 4096

    init(_ entry: any JobEntry, on board: any Board) {
        self.entry = entry
        self.board = board
    }

    /// The clips in the order of the output; none if the job is not an edit of several clips whose passes are known.
    mutating func clips(of status: JobStatus) async -> [ClipProgress] {
        let passes = status.job.passCount
        guard (1...ClipSight.mostPasses).contains(passes), !status.state.isTerminal else { return [] }
        // A disproved plan is replaced by another.
        if known?.passes != passes { known = (passes, await read(passes)) }
        guard let clips = known?.clips, !clips.isEmpty,
            let cells = try? await board.strip(status.job.id, cells: passes)?.cells, cells.count == passes
        else { return [] }
        return clips.map { clip, passes in
            var clip = clip
            clip.passesDone = passes.reduce(0) { $0 + cells[$1].done }
            clip.passesLive = passes.reduce(0) { $0 + cells[$1].live }
            return clip
        }
    }

    private func read(_ passes: Int) async -> [(clip: ClipProgress, passes: [Int])] {
        guard let plan = try? await entry.latestPlan(), let record = try? await entry.read(),
            plan.passes.count == passes, plan.clips.count > 1
        else { return [] }
        return plan.clipsMade(
            names: record.sources.map { $0.path.split(separator: "/").last.map(String.init) ?? $0.path })
    }
}

extension Plan {
    /// The clips that passes make, and the places of those passes; `names` are those of the sources.
    fileprivate func clipsMade(names: [String]) -> [(clip: ClipProgress, passes: [Int])] {
        var makers: [Int: [Int]] = [:]
        for (place, pass) in passes.enumerated() {
            guard case .video(let video) = pass else { continue }
            for clip in video.clips { makers[clip, default: []].append(place) }
        }
        return makers.sorted { $0.key < $1.key }.map { number, passes in
            let clip = clips[number]
            let progress = ClipProgress(
                source: clip.isBlack || !names.indices.contains(clip.source) ? nil : names[clip.source],
                frames: clip.frames, direction: clip.direction, passes: passes.count)
            return (progress, passes)
        }
    }
}
