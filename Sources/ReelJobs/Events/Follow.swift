package import ReelCore
package import ReelQueue

/// Watches a job on the board until it ends.
package struct Follow: Sendable {
    private let board: any Board
    private let job: JobID
    private let interval: Duration
    private let rest: Duration

    /// - Parameters:
    ///   - board: for this alone, since waiting for events blocks it. Its patience decides how long Redis may be away.
    ///   - interval: from one look to the next if nothing happens to the job: the progress of a pass is no event.
    ///   - rest: from one look to the next at least, unless the job ends: a job of many short passes has events all the
    ///     time.
    package init(
        _ job: JobID, on board: any Board, interval: Duration = .seconds(1), rest: Duration = .milliseconds(250)
    ) {
        self.board = board
        self.job = job
        self.interval = interval
        self.rest = rest
    }

    /// Returns the job's last status, whatever its end. Throws `.unreachable` if Redis is out of reach for too long or has
    /// forgotten the job, `.interrupted` if the task is cancelled, and what `look` throws.
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
