public import ReelCore
public import ReelQueue

/// Watches a job on the board until it ends.
public struct Follow: Sendable {
    private let board: Board
    private let job: JobID
    private let interval: Duration
    private let patience: Duration

    /// - Parameters:
    ///   - interval: from one look to the next.
    ///   - patience: how long the board may be out of reach.
    public init(_ job: JobID, on board: Board, interval: Duration = .milliseconds(250), patience: Duration) {
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
        var answered = clock.now
        while true {
            do throws(ReelFailure) {
                guard let status = try await board.status(job) else {
                    throw ReelFailure(.unreachable, "the board knows no job \(job) any more", cause: .permanent)
                }
                answered = clock.now
                try await look(status)
                if status.state.isTerminal { return status }
            } catch {
                guard error.cause == .transient, error.kind == .unreachable, clock.now - answered < patience else {
                    throw error
                }
            }
            guard (try? await Task.sleep(for: interval)) != nil else {
                throw ReelFailure(.interrupted, "interrupted", cause: .transient)
            }
        }
    }
}

extension JobStatus {
    /// Why the job is not done, as the failure that the command line exits with; nil where it is done.
    public var endingFailure: ReelFailure? {
        switch state {
        case .done: nil
        case .cancelled: ReelFailure(.job, "job \(job.id) was cancelled")
        case .failed: failure ?? ReelFailure(.job, "job \(job.id) failed")
        case .publishing, .running, .assembling: ReelFailure(.job, "job \(job.id) is not finished")
        }
    }

    /// Why nothing works on the job at this moment, for people; nil where something does or may at once.
    public func idleReason(workers: [WorkerStatus]) -> String? {
        guard state == .running || state == .assembling, passes.live == 0, spaceNote == nil else {
            return nil
        }
        // One whose beats have stopped may be listed for a while.
        let alive = workers.filter { $0.beatAge < 20 }
        guard let largest = alive.map(\.report.memoryTotal).max() else {
            return "no worker is connected: start reel-worker with the same --redis and --store"
        }
        guard largest < job.need else { return nil }
        return "no worker has the memory that a pass needs: \(ByteSize(bytes: job.need)); the largest has "
            + "\(ByteSize(bytes: largest))"
    }
}

extension Board {
    /// What the engines warned of in the passes that are finished, each thing once, in the order of the passes.
    public func passWarnings(_ job: JobID) async throws(ReelFailure) -> [String] {
        try results(job).sorted { $0.key < $1.key }.flatMap(\.value.warnings)
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
