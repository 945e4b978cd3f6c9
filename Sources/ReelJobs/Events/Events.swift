package import ReelCore
package import ReelQueue
internal import ReelStore

/// What happens on the board from a place in its stream on, for one reader, which calls `wait` again and again. Waiting
/// blocks the feed's board for all other calls, half a second at a time.
///
/// To go on later, or after an error, make another feed after the place of the last event read. The board keeps about
/// 10,000 events: a reader that falls further behind misses some.
package actor EventFeed {
    private let board: any Board
    private let job: JobID?
    private var place: BoardEvent.Place?

    /// The longest that one call of Redis waits, so that a cancelled task ends soon.
    private static let slice = Duration.milliseconds(500)
    /// The pause after a read without events of the job: on a busy board each read brings hundreds.
    private static let pause = Duration.milliseconds(100)

    /// - Parameters:
    ///   - job: the only one whose events matter; nil for all jobs.
    ///   - place: events after it are read; nil for those after the first call of `begin` or `wait`.
    package init(_ board: any Board, of job: JobID? = nil, after place: BoardEvent.Place? = nil) {
        self.board = board
        self.job = job
        self.place = place
    }

    /// Starts a feed that has no place: `wait` returns what happens from here on.
    package func begin() async throws(ReelFailure) {
        if place == nil { place = try await board.placeOfNow() }
    }

    /// Returns what has happened since the last call, as soon as something has. Returns nothing after this time, or if
    /// the task is cancelled. Throws at once if Redis cannot be reached.
    package func wait(atMost duration: Duration) async throws(ReelFailure) -> [BoardEvent] {
        try await begin()
        let deadline = ContinuousClock.now + duration
        while let place, !Task.isCancelled {
            let left = deadline - .now
            guard left > .zero else { break }
            let events = try await board.events(after: place, atMost: min(left, EventFeed.slice))
            guard let last = events.last else { continue }
            self.place = last.place
            let ours = events.filter { job == nil || $0.job == job }
            if !ours.isEmpty { return ours }
            try? await Task.sleep(for: EventFeed.pause)
        }
        return []
    }
}

extension JobService {
    package func now() async throws(ReelFailure) -> BoardEvent.Place { try await board.placeOfNow() }

    /// A feed on a board of its own; `place` is from `now`, or that of the last event seen.
    package func events(after place: BoardEvent.Place? = nil, of job: JobID? = nil) -> EventFeed {
        EventFeed(connect(), of: job, after: place)
    }

    /// Watches a job until it is done, and returns it then; at once if the store has its result.
    ///
    /// Throws why the job failed, `.jobCancelled` if it was cancelled, `.unreachable` if Redis is away for longer than
    /// the board's patience or has forgotten the job, `.interrupted` if the task is cancelled, and what `look` throws.
    ///
    /// - Parameters:
    ///   - look: sees the job on each event and at least once a second; `waitReason` only if a user should act.
    package func follow(
        _ id: JobID, _ look: (JobView) async throws(ReelFailure) -> Void
    ) async throws(ReelFailure) -> JobView {
        let folder = store?.job(id)
        if let folder, await folder.result != nil { return try await view(id) }
        let board = connect()
        var sight = folder.map { ClipSight($0, on: board) }
        let follow = Follow(id, on: board)
        let status = try await follow.untilEnd { status async throws(ReelFailure) in
            let reason = try await WaitReason.toActOn(status, on: board)
            var view = JobView(status, output: nil, waitReason: reason, waitAdvice: reason.flatMap(advice))
            view.clips = await sight?.clips(of: status) ?? []
            try await look(view)
        }
        if let failure = status.endingFailure { throw failure }
        return try await view(id)
    }

    /// Waits until a job is done. Throws as `follow` does, `.jobUnknown` if neither board nor store has it, and
    /// `.jobUnended` if the job has not ended after that time.
    package func wait(
        for id: JobID, seconds: Int64? = nil,
        _ look: @escaping @Sendable (JobView) async throws(ReelFailure) -> Void = { _ in }
    ) async throws(ReelFailure) -> JobView {
        // If the job has ended, `follow` returns at once, whatever the time limit.
        let hasEnded = try await view(id).state.isTerminal
        guard let seconds, !hasEnded else { return try await follow(id, look) }
        let late = ReelFailure(.jobUnended(job: id, seconds: seconds))
        return try await ReelFailure.limiting(until: .now + .seconds(seconds), orThrow: late) {
            try await follow(id, look)
        }
    }

    /// As `Board.dispatch`; `settle` says how the attempt ended.
    package func dueWebhook() async throws(ReelFailure) -> DueWebhook? { try await board.dispatch() }

    /// As `Board.dispatched`, but repeated for a minute while Redis cannot be reached: a delivered webhook would
    /// otherwise be sent again.
    package func settle(
        _ webhook: DueWebhook, _ outcome: DueWebhook.Outcome
    ) async throws(ReelFailure) -> DueWebhook.Answer {
        try await board.patiently { () throws(ReelFailure) in try await board.dispatched(webhook, outcome) }
    }
}

extension WaitReason {
    /// Why a job waits, if a user should do something about it; else nil. Asks the board for its workers only if no
    /// worker holds any of the job's passes.
    fileprivate static func toActOn(_ status: JobStatus, on board: any Board) async throws(ReelFailure) -> WaitReason? {
        guard !status.state.isTerminal, status.passes.live == 0 else { return nil }
        let reason = WaitReason(status, workers: try await board.workers())
        return reason.flatMap { $0.isPassing ? nil : $0 }
    }
}

/// Watches a job on the board until it ends.
package struct Follow: Sendable {
    private let board: any Board
    private let job: JobID
    private let interval: Duration
    private let rest: Duration

    /// - Parameters:
    ///   - board: for this alone, since waiting for events blocks it. Its patience decides how long Redis may be away.
    ///   - interval: from one look to the next if nothing happens to the job: progress of a pass is not an event.
    ///   - rest: the least time between looks, except at the job's end: many short passes make events all the time.
    package init(
        _ job: JobID, on board: any Board, interval: Duration = .seconds(1), rest: Duration = .milliseconds(250)
    ) {
        self.board = board
        self.job = job
        self.interval = interval
        self.rest = rest
    }

    /// Returns the job's last status, whatever its end. Throws `.unreachable` if Redis is out of reach for too long or
    /// has forgotten the job, `.interrupted` if the task is cancelled, and what `look` throws.
    package func untilEnd(
        _ look: (JobStatus) async throws(ReelFailure) -> Void
    ) async throws(ReelFailure) -> JobStatus {
        let clock = ContinuousClock()
        let feed = EventFeed(board, of: job)
        let reaping = BoardTiming().reap
        var reaped = clock.now
        try await feed.begin()
        while true {
            // Workers requeue what vanished workers held; if none is left, a process that follows a job does.
            if clock.now - reaped >= reaping {
                _ = try await board.reap()
                reaped = clock.now
            }
            guard let status = try await board.status(job) else { throw ReelFailure(.jobForgotten(job: job)) }
            try await look(status)
            if status.state.isTerminal { return status }
            let next = clock.now + min(interval, rest)
            var events = try await feed.wait(atMost: interval)
            while !events.isEmpty, !events.contains(where: \.happening.isEnd), clock.now < next {
                events = try await feed.wait(atMost: next - clock.now)
            }
            guard !Task.isCancelled else { throw ReelFailure(.interrupted) }
        }
    }
}

extension JobStatus {
    /// Why the job is not done; nil if it is.
    package var endingFailure: ReelFailure? {
        switch state {
        case .done: nil
        case .cancelled: ReelFailure(.jobCancelled(job: job.id))
        case .failed: failure ?? ReelFailure(.jobFailed(job: job.id))
        case .probing, .running, .assembling: ReelFailure(.jobNotFinished(job: job.id, state: state))
        }
    }
}
