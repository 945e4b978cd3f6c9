package import ReelCore
import ReelQueue

/// A worker's limits and intervals.
package struct WorkerSettings: Sendable {
    /// How many passes run at once, at most.
    package var slots: Int
    /// Bytes that all passes together may take.
    package var memoryTotal: Int64
    /// The folder for the engines' spills.
    package var scratch: String
    /// The folders from which the worker takes sources, as its engines have been told; nil for any.
    package var sourceRoots: SourceRoots?
    /// The most that a job may ask of this worker.
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

    /// Settings with the default times for production.
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
