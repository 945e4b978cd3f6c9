internal import Logging
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// Removes jobs from the store that ended longer ago than they were to be kept, by Redis's clock and by this machine's:
/// where one of the two is wrong, nothing goes before its time. Every worker runs one.
struct Janitor: Sendable {
    let store: Store
    let board: any Board
    let interval: Duration
    let condition: Condition
    let log: Logger

    /// Runs until cancelled.
    func run() async {
        repeat { await clean() } while (try? await Task.sleep(for: interval)) != nil
    }

    private func clean() async {
        guard let clocks = try? await board.clocks() else { return }
        condition.setClocks(clocks)
        for job in (try? store.jobs()) ?? [] where isPast(store.job(job), at: clocks.earlier) {
            do throws(ReelFailure) {
                // The board first: it refuses where the job runs again.
                try await board.forget(job)
                try await JobControl(board: board, store: store).withdraw(headOf: store.job(job).read())
                try store.job(job).remove()
                log.notice("removed job \(job): it was kept as long as it was to be")
            } catch {
                log.debug("job \(job) stays: \(error.words)")
            }
        }
        store.removeUnusedSources()
    }

    /// What cannot be read is left to people.
    private func isPast(_ folder: JobFolder, at now: Double) -> Bool {
        guard let record = try? folder.read(), record.state != nil, let finished = record.finished else { return false }
        return finished + record.terms.retain < now
    }
}
