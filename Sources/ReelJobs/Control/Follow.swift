public import ReelCore
public import ReelQueue

/// Watches a job on the board until it ends.
public struct Follow: Sendable {
    private let board: any Board
    private let job: JobID
    private let interval: Duration
    private let patience: Duration

    /// - Parameters:
    ///   - board: for this alone while it waits, since waiting for events blocks it.
    ///   - interval: from one look to the next where nothing happens to the job: how far a pass is tells no event.
    ///   - patience: how long the board may be out of reach.
    public init(_ job: JobID, on board: any Board, interval: Duration = .seconds(1), patience: Duration) {
        self.board = board
        self.job = job
        self.interval = interval
        self.patience = patience
    }

    /// Returns the job's last status. Throws `.unreachable` where the board is out of reach for too long or forgets the
    /// job, `.interrupted` where the task is cancelled, and what `look` throws.
    public func untilEnd(
        _ look: (JobStatus) async throws(ReelFailure) -> Void
    ) async throws(ReelFailure) -> JobStatus {
        let clock = ContinuousClock()
        let feed = EventFeed(board, of: job)
        var answered = clock.now
        var reaped = clock.now
        while true {
            do throws(ReelFailure) {
                try await feed.begin()
                // Where no worker is left to do it, whoever waits for the job does.
                if clock.now - reaped >= .seconds(3) {
                    _ = try await board.reap()
                    reaped = clock.now
                }
                guard let status = try await board.status(job) else {
                    throw ReelFailure(.jobForgotten(job: job))
                }
                answered = clock.now
                try await look(status)
                if status.state.isTerminal { return status }
                let looked = clock.now
                let events = try await feed.wait(atMost: interval)
                // On a job of many short passes something happens all the time.
                if !events.contains(where: \.happening.isEnd) {
                    try? await Task.sleep(until: looked + min(interval, .milliseconds(250)), clock: clock)
                }
            } catch {
                guard error.cause == .transient, error.kind == .unreachable, clock.now - answered < patience else {
                    throw error
                }
                // A Redis that refuses answers at once, so nothing else waits here.
                try? await Task.sleep(for: interval)
            }
            guard !Task.isCancelled else { throw ReelFailure(.interrupted) }
        }
    }
}

extension JobStatus {
    /// Why the job is not done, as the failure that the command line exits with; nil where it is done.
    public var endingFailure: ReelFailure? {
        switch state {
        case .done: nil
        case .cancelled: ReelFailure(.jobCancelled(job: job.id))
        case .failed: failure ?? ReelFailure(.jobFailed(job: job.id))
        case .probing, .running, .assembling: ReelFailure(.jobNotFinished(job: job.id, state: state))
        }
    }
}
