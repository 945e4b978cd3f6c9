package import ReelCore
package import ReelQueue

/// What happens on the board from a place in its stream on, as an endless sequence of events. For one reader: it either
/// iterates, or calls `wait` again and again.
///
/// To go on later, or after an error, make another feed after the place of the last event read. The board keeps about
/// 10,000 events: a reader that falls further behind misses some.
///
/// Iterating throws `.unreachable` as soon as Redis cannot be reached, and ends if the task is cancelled. Waiting
/// blocks the feed's board for all other calls, half a second at a time.
package actor EventFeed: AsyncSequence {
    private let board: any Board
    private let job: JobID?
    private var place: BoardEvent.Place?

    /// The longest that one call of Redis waits, so that a cancelled task ends soon.
    private static let slice = Duration.milliseconds(500)
    /// The pause after a read without events of the job: on a busy board each read brings hundreds.
    private static let pause = Duration.milliseconds(100)

    /// - Parameters:
    ///   - board: for this feed alone.
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
            let events = try await board.events(after: place, atMost: Swift.min(left, EventFeed.slice))
            guard let last = events.last else { continue }
            self.place = last.place
            let ours = events.filter { job == nil || $0.job == job }
            if !ours.isEmpty { return ours }
            try? await Task.sleep(for: EventFeed.pause)
        }
        return []
    }

    /// The feed's events, one at a time.
    package nonisolated func makeAsyncIterator() -> Iterator { Iterator(feed: self) }

    /// Reads a feed event by event.
    package struct Iterator: AsyncIteratorProtocol {
        let feed: EventFeed
        private var read: ArraySlice<BoardEvent> = []

        init(feed: EventFeed) { self.feed = feed }

        /// The next event, as soon as there is one; nil if the task is cancelled.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(ReelFailure) -> BoardEvent? {
            while read.isEmpty {
                guard !Task.isCancelled else { return nil }
                read = try await feed.wait(atMost: .seconds(60))[...]
            }
            return read.removeFirst()
        }
    }
}
