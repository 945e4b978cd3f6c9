public import ReelCore
public import ReelQueue

/// Tells those who watch the board when to look again: as soon as something has happened on it.
///
/// What happens between two calls is not missed; a feed that was never asked begins with its first call. Waiting blocks its
/// board for everything else, half a second at a time.
public actor EventFeed {
    private let board: Board
    private let job: JobID?
    private var place: BoardEvent.Place?

    /// No call of Redis waits for longer, so that a task that is cancelled ends soon.
    private static let slice = Duration.milliseconds(500)
    /// On a busy board events come by the hundred, and each read brings all of them.
    private static let pause = Duration.milliseconds(100)

    /// - Parameter job: the only one whose events matter; nil for all jobs.
    public init(_ board: Board, of job: JobID? = nil) {
        self.board = board
        self.job = job
    }

    /// What happens from here on counts.
    public func begin() async throws(ReelFailure) {
        if place == nil { place = try await board.placeOfNow() }
    }

    /// Returns what has happened since the last call, as soon as something has; nothing after this time, or when the task
    /// is cancelled. Throws what reaching Redis throws, at once.
    public func wait(atMost duration: Duration) async throws(ReelFailure) -> [BoardEvent] {
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
