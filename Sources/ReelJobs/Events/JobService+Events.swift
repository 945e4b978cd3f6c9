package import ReelCore
package import ReelQueue
internal import ReelStore

extension JobService {
    /// The place in the board's stream of events before all that happens from now on.
    package func now() async throws(ReelFailure) -> BoardEvent.Place { try await board.placeOfNow() }

    /// What happens on the board, event by event, for one reader.
    ///
    /// - Parameters:
    ///   - place: events after it are read: from `now`, or of the last event that the reader has seen; nil for the events that
    ///     happen after the reader's first call.
    ///   - job: the only one whose events matter; nil for all jobs.
    package func events(after place: BoardEvent.Place? = nil, of job: JobID? = nil) -> EventFeed {
        EventFeed(connect(), of: job, after: place)
    }

    /// Watches a job until it is done, and returns it then; at once if the store has its result.
    ///
    /// Throws why the job failed, `.jobCancelled` if it was cancelled, `.unreachable` if Redis is away for longer than the
    /// board's patience or has forgotten the job, `.interrupted` if the task is cancelled, and what `look` throws.
    ///
    /// - Parameters:
    ///   - look: sees the job whenever something has happened to it, and at least once a second. `waitReason` is there only
    ///     if a user should do something about it.
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
}

extension JobService {
    /// Waits until a job is done. Throws as `follow` does, `.jobUnknown` if neither board nor store has it, and `.jobUnended` if
    /// the job has not ended after that time.
    ///
    /// - Parameters:
    ///   - seconds: how long to wait; nil for as long as it takes.
    ///   - look: as for `follow`.
    package func wait(
        for id: JobID, seconds: Int64? = nil,
        _ look: @escaping @Sendable (JobView) async throws(ReelFailure) -> Void = { _ in }
    ) async throws(ReelFailure) -> JobView {
        // Of a job that has ended, follow says so at once, whatever the time that is allowed.
        if try await view(id).state.isTerminal { return try await follow(id, look) }
        return try await ReelFailure.unifying {
            try await withThrowingTaskGroup(of: JobView.self) { group in
                group.addTask { try await follow(id, look) }
                if let seconds {
                    group.addTask {
                        try await Task.sleep(for: .seconds(seconds))
                        throw ReelFailure(.jobUnended(job: id, seconds: seconds))
                    }
                }
                defer { group.cancelAll() }
                guard let view = try await group.next() else { throw CancellationError() }
                return view
            }
        }
    }
}

extension WaitReason {
    /// Why a job waits, if a user should do something about it; else nil. Asks the board for its workers only if no worker
    /// holds any of the job's passes.
    fileprivate static func toActOn(_ status: JobStatus, on board: any Board) async throws(ReelFailure) -> WaitReason? {
        guard !status.state.isTerminal, status.passes.live == 0 else { return nil }
        let reason = WaitReason(status, workers: try await board.workers())
        return reason.flatMap { $0.isPassing ? nil : $0 }
    }
}
