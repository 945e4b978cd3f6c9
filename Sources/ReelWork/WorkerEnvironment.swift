package import Logging
package import ReelCore
package import ReelEngine
package import ReelQueue
package import ReelStore

/// The values that the roles of one worker share.
package struct WorkerEnvironment: Sendable {
    package let worker: WorkerID
    /// The board on which passes are claimed and reported. The roles that wait, or must not be delayed, have others.
    package let board: any Board
    package let store: any JobStore
    package let engines: any EngineRunner
    /// The folder for what engines spill, perhaps on another disk than the store.
    package let scratch: String
    package let quotas: Quotas
    package let clock: WorkerClock
    package let log: Logger
    package let passes = ActivePasses()
    /// Is sent when there may be something to claim, and when the worker begins to end or is drained.
    package let signal = AsyncSignal()
    package let notes: WorkerNotes
    package let drain: Drain

    /// - Parameter grace: how long passes may go on when the worker ends.
    package init(
        worker: WorkerID, board: any Board, store: any JobStore, engines: any EngineRunner, scratch: String,
        quotas: Quotas = Quotas(), grace: Duration,
        clock: WorkerClock = .continuous, log: Logger
    ) {
        self.worker = worker
        self.board = board
        self.store = store
        self.engines = engines
        self.scratch = scratch
        self.quotas = quotas
        self.clock = clock
        self.log = log
        notes = WorkerNotes(clock: clock)
        drain = Drain(grace: grace, passes: passes, signal: signal, clock: clock)
    }

    /// Heeds what the board says that a user has drained, and logs each change.
    package func heed(_ drained: DrainScope?) {
        guard drain.heed(drained) else { return }
        switch drained {
        case .worker: log.notice("claims nothing: this worker is drained")
        case .host: log.notice("claims nothing: its host is drained")
        case nil: log.notice("claims again: it is no longer drained")
        }
    }
}

package struct WorkerSettings: Sendable {
    package var slots: Int
    /// Bytes that all passes together may take.
    package var memoryTotal: Int64
    package var scratch: String
    /// The folders from which the worker takes sources, as its engines have been told; nil for any.
    package var sourceRoots: SourceRoots?
    package var quotas: Quotas
    /// How long passes may go on when the worker is told to end.
    package var grace: Duration
    /// From one beat to the next; the board's lease is a multiple of it.
    package var beat: Duration
    /// From one look for expired leases, or for a Redis that was started anew, to the next.
    package var reap: Duration
    /// From one look for jobs whose retention is over to the next.
    package var cleaning: Duration
    /// From one look for jobs that the board has lost to the next; nil to look for none.
    package var registering: Duration?

    package init(
        slots: Int, memoryTotal: Int64, scratch: String, sourceRoots: SourceRoots? = nil, quotas: Quotas = Quotas(),
        grace: Duration = .seconds(25), beat: Duration = BoardTiming().beat, reap: Duration = BoardTiming().reap,
        cleaning: Duration = .seconds(600), registering: Duration? = BoardTiming().registering
    ) {
        self.slots = slots
        self.memoryTotal = memoryTotal
        self.scratch = scratch
        self.sourceRoots = sourceRoots
        self.quotas = quotas
        self.grace = grace
        self.beat = beat
        self.reap = reap
        self.cleaning = cleaning
        self.registering = registering
    }
}
