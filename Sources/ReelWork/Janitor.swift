internal import Logging
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// Removes jobs from the store when their retention is over, by Redis's clock and by this machine's: if one of the two is
/// wrong, nothing is removed before its time. Also removes the copies of sources that ended jobs do not need, and writes
/// into records how jobs ended, and removes what submitters left that ended before they wrote a record. Every worker runs one.
package struct Janitor: Sendable {
    /// Seconds that a submitter has for the record of a job whose folder it has made. It takes milliseconds, but the clock of
    /// a file server may differ from this machine's.
    private static let patience = 3600.0
    private let environment: WorkerEnvironment

    package init(_ environment: WorkerEnvironment) { self.environment = environment }

    /// Cleans at every interval, the first time at once, until cancelled.
    func run(every interval: Duration) async {
        repeat { await clean() } while await environment.clock.sleep(for: interval)
    }

    /// Cleans once, and notes by how much the two clocks differ.
    package func clean() async {
        let (store, board, log) = (environment.store, environment.board, environment.log)
        guard let clocks = try? await board.clocks() else { return }
        environment.notes.setClocks(clocks)
        for job in (try? await store.jobs()) ?? [] {
            // A process that ends a job writes so into its record, but may be killed before that.
            try? await store.job(job).settle(on: board)
            try? await store.job(job).giveBackCopies()
            guard let record = await pastRecord(store.job(job), at: clocks.earlier) else { continue }
            do throws(ReelFailure) {
                guard try await JobControl(board: board, store: store).remove(job, as: record) else { continue }
                log.notice("removed job \(job): it was kept as long as it was to be")
            } catch {
                log.debug("job \(job) stays: \(error.words)")
            }
        }
        await store.removeUnrecordedJobs(before: clocks.earlier - Janitor.patience)
        await store.removeUnusedSources()
    }

    /// The record of a job that has ended and whose retention is over, else nil. A job whose record cannot be read is left for
    /// people to remove.
    private func pastRecord(_ entry: any JobEntry, at now: Double) async -> JobRecord? {
        guard let record = try? await entry.read(), record.state != nil, let finished = record.finished else {
            return nil
        }
        return finished + record.terms.retain < now ? record : nil
    }
}
