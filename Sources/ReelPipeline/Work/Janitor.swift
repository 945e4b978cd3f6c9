internal import Foundation
internal import Logging
internal import ReelCore
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// Removes jobs from the store that ended longer ago than they were to be kept. Every worker runs one.
struct Janitor: Sendable {
    let store: Store
    let board: Board
    let interval: Duration
    let log: Logger

    /// Runs until cancelled.
    func run() async {
        repeat { await clean() } while (try? await Task.sleep(for: interval)) != nil
    }

    private func clean() async {
        for job in (try? store.jobs()) ?? [] where isPast(store.job(job)) {
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
    private func isPast(_ folder: JobFolder) -> Bool {
        guard let record = try? folder.read(), record.state != nil, let finished = record.finished else { return false }
        return finished + record.terms.retain < Date().timeIntervalSince1970
    }
}
