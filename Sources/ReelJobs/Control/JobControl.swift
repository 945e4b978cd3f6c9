public import ReelCore
public import ReelQueue
public import ReelStore

/// What people do to jobs. The store learns of it before the board, so that nothing that was cancelled or held back
/// revives when the board is rebuilt.
///
/// Each throws `.usage` where there is no such job or it is in no state for that, and `.unreachable`.
public struct JobControl: Sendable {
    /// What became of a job.
    public enum Outcome: Hashable, Sendable {
        case cancelled
        /// It had ended before.
        case hadEnded(JobState)
        case paused, resumed, retried, removed
    }

    private let board: any Board
    private let store: Store

    public init(board: any Board, store: Store) {
        self.board = board
        self.store = store
    }

    /// There is no such job, neither on the board nor in the store.
    public static func unknown(_ job: JobID) -> ReelFailure {
        ReelFailure(.jobUnknown(job: job))
    }

    /// Ends a job; who works at it learns so at the next beat.
    public func cancel(_ id: JobID) async throws(ReelFailure) -> Outcome {
        if let ended = try await look(id), ended.isTerminal { return .hadEnded(ended) }
        let now = await board.endOfNow()
        do throws(ReelFailure) {
            try record(id) { record in
                (record.state, record.finished) = (.cancelled, now)
            }
        } catch {
            // Nobody goes on with a job of which the record cannot be read, nor can anybody recover it.
            guard error.isOfRecord else { throw error }
        }
        _ = try await board.cancel(id)
        if let record = try? store.job(id).read() { try await withdraw(headOf: record) }
        return .cancelled
    }

    /// Holds a job back, or lets it go on; what is held is worked on to its end.
    public func setPaused(_ id: JobID, _ paused: Bool) async throws(ReelFailure) -> Outcome {
        let state = try await look(id)
        if let state, state.isTerminal { throw ReelFailure(.jobEnded(job: id, state: state)) }
        guard try await board.state(of: id) != nil else { throw ReelFailure(.jobNotOnBoard(job: id)) }
        try record(id) { $0.paused = paused }
        _ = paused ? try await board.pause(id) : try await board.resume(id)
        return paused ? .paused : .resumed
    }

    /// Has a failed job run again; what is finished and still whole in the store stays so.
    public func retry(_ id: JobID) async throws(ReelFailure) -> Outcome {
        let state = try await look(id)
        guard state == .failed else { throw ReelFailure(.jobNotFailed(job: id, state: state)) }
        try record(id) { record in
            record.reopen()
            record.paused = false
        }
        try await takeBackLost(id)
        // Where the board has forgotten it, the store has what it needs.
        if try await board.retry(id) == nil,
            case .lost(let why) = try await Recover(store: store, board: board).recover(id)
        {
            throw why
        }
        return .retried
    }

    /// Forgets on the board what the store has not whole any more, so that it is made again.
    private func takeBackLost(_ id: JobID) async throws(ReelFailure) {
        let folder = store.job(id)
        guard folder.exists, let status = try await board.status(id) else { return }
        let lost = try await board.recordedResults(id).filter { index, recorded in
            index < status.job.passCount && !folder.areWhole(recorded.result.segments)
        }
        guard
            let (pass, name) = lost.lazy.compactMap({ pass, recorded in
                recorded.result.segments.first.map { (pass, $0.name.text) }
            }).first
        else { return }
        try await board.invalidate(
            id, passes: lost.map { ($0.key, $0.value.token) }, plan: status.job.plan, by: WorkerID("retry"),
            reason: ReelFailure(.segmentMissing(segment: name, pass: pass)))
    }

    /// Removes an ended job and all that the store has of it, its result too.
    public func remove(_ id: JobID) async throws(ReelFailure) -> Outcome {
        let state = try await look(id) ?? .running
        guard state.isTerminal else { throw ReelFailure(.jobNotEnded(job: id, state: state)) }
        try await board.waitUntilLetGo(id)
        try await discard(id)
        return .removed
    }

    /// Removes an ended job that nobody works at: from the store, then from the board.
    ///
    /// - Parameter removal: where that is the part of whoever waited last for it.
    func discard(_ id: JobID, _ removal: Removal? = nil) async throws(ReelFailure) {
        if store.job(id).exists {
            if let record = try? store.job(id).read() { try await withdraw(headOf: record) }
            try store.job(id).remove()
            store.removeUnusedSources()
        }
        try await board.forget(id, removal: removal)
    }

    /// Removes the job that began with the head of another's source, if there is one, whatever it is at.
    package func withdraw(headOf record: JobRecord) async throws(ReelFailure) {
        guard let head = record.head else { return }
        try await withdraw(head)
    }

    /// Removes a job and all that the store has of it, whatever it is at.
    package func withdraw(_ id: JobID) async throws(ReelFailure) {
        // Should this be the last that is done. On a full disk nothing can be written, only removed.
        let now = await board.endOfNow()
        try? record(id) { record in
            guard record.state == nil else { return }
            (record.state, record.finished) = (.cancelled, now)
        }
        try await board.withdraw(id)
        guard store.job(id).exists else { return }
        try store.job(id).remove()
        store.removeUnusedSources()
    }

    /// The state as the board knows it, else as the store does; nil where the store has an unfinished job of which the
    /// board knows nothing. One whose record cannot be read has failed, as far as anybody can tell.
    private func look(_ id: JobID) async throws(ReelFailure) -> JobState? {
        if let state = try await board.state(of: id) { return state }
        guard store.job(id).exists else { throw JobControl.unknown(id) }
        do throws(ReelFailure) {
            return try store.job(id).read().state
        } catch {
            guard error.isOfRecord else { throw error }
            return .failed
        }
    }

    private func record(_ id: JobID, _ change: (inout JobRecord) -> Void) throws(ReelFailure) {
        let folder = store.job(id)
        guard folder.exists else { return }
        var record = try folder.read()
        change(&record)
        try folder.write(record)
    }
}

extension ReelFailure {
    /// Whether a job's record is there and is none.
    fileprivate var isOfRecord: Bool {
        switch reason {
        case .storeFileDamaged, .storeFileForeign: true
        default: false
        }
    }
}

extension Board {
    /// Takes a job off the board. Those who work on it learn so with their next beat; what they still write must not
    /// meet what comes after.
    func withdraw(_ job: JobID) async throws(ReelFailure) {
        guard try await state(of: job) != nil else { return }
        _ = try await cancel(job)
        try await waitUntilLetGo(job)
        try await forget(job)
    }

    /// Waits until nobody works on an ended job any more, no longer than any lease lasts: what is still being written
    /// must not meet what comes after.
    func waitUntilLetGo(_ job: JobID) async throws(ReelFailure) {
        let deadline = ContinuousClock.now + .seconds(25)
        // Where it cannot be told who works on it, there is nothing to wait for.
        while let live = try? await live(job), !live.isEmpty, ContinuousClock.now < deadline {
            guard (try? await Task.sleep(for: .milliseconds(200))) != nil else { throw .of(CancellationError()) }
        }
    }
}
