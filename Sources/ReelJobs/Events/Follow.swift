package import ReelCore
package import ReelQueue

/// Watches a job on the board until it ends.
package struct Follow: Sendable {
    private let board: any Board
    private let job: JobID
    private let interval: Duration
    private let rest: Duration
    private let patience: Duration

    /// - Parameters:
    ///   - board: for this alone, since waiting for events blocks it.
    ///   - interval: from one look to the next if nothing happens to the job: the progress of a pass is no event.
    ///   - rest: from one look to the next at least, unless the job ends: a job of many short passes has events all the
    ///     time.
    ///   - patience: how long Redis may be out of reach.
    package init(
        _ job: JobID, on board: any Board, interval: Duration = .seconds(1), rest: Duration = .milliseconds(250),
        patience: Duration
    ) {
        self.board = board
        self.job = job
        self.interval = interval
        self.rest = rest
        self.patience = patience
    }

    /// Returns the job's last status, whatever its end. Throws `.unreachable` if Redis is out of reach for too long or has
    /// forgotten the job, `.interrupted` if the task is cancelled, and what `look` throws.
    ///
    /// - Parameter silent: hears why Redis does not answer, with each look that failed from the third second on.
    package func untilEnd(
        silent: (ReelFailure) -> Void = { _ in }, _ look: (JobStatus) async throws(ReelFailure) -> Void
    ) async throws(ReelFailure) -> JobStatus {
        let clock = ContinuousClock()
        let feed = EventFeed(board, of: job)
        var answered = clock.now
        var reaped = clock.now
        while true {
            do throws(ReelFailure) {
                try await feed.begin()
                // Workers requeue what vanished workers held; if none is left, a process that follows a job does.
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
                let next = clock.now + min(interval, rest)
                var events = try await feed.wait(atMost: interval)
                while !events.isEmpty, !events.contains(where: \.happening.isEnd), clock.now < next {
                    events = try await feed.wait(atMost: next - clock.now)
                }
            } catch {
                guard error.cause == .transient, error.kind == .unreachable, clock.now - answered < patience else {
                    throw error
                }
                if clock.now - answered >= .seconds(3) { silent(error) }
                // A Redis that refuses a call does so at once: without a pause this would ask it all the time.
                try? await Task.sleep(for: interval)
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
