public import ReelCore
public import ReelQueue

/// Tells a program that watches the board when to look again: as soon as something has happened on it.
///
/// Events between two calls are not missed. A feed begins with `begin`, or else with its first `wait`. Waiting blocks the
/// feed's board for all other calls, half a second at a time.
public actor EventFeed {
    private let board: any Board
    private let job: JobID?
    private var place: BoardEvent.Place?

    /// The longest that one call of Redis waits, so that a cancelled task ends soon.
    private static let slice = Duration.milliseconds(500)
    /// The pause after a read without events of the job: on a busy board each read brings hundreds.
    private static let pause = Duration.milliseconds(100)

    /// - Parameter job: the only one whose events matter; nil for all jobs.
    public init(_ board: any Board, of job: JobID? = nil) {
        self.board = board
        self.job = job
    }

    /// Begins: `wait` returns what happens from here on.
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
