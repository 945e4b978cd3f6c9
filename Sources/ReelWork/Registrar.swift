internal import Logging
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// Puts jobs back on the board that only the store has: Redis may lose its last second in a crash, and a replica that becomes the
/// master may lack more. Every worker of a farm runs one.
package struct Registrar: Sendable {
    private let environment: WorkerEnvironment

    package init(_ environment: WorkerEnvironment) { self.environment = environment }

    /// What a look has found.
    package struct Look: Sendable {
        /// Jobs of the store that the board does not have.
        fileprivate var missing: Set<JobID> = []
        /// Those among them that are rightly there alone, or of which a warning has told that they cannot come back.
        fileprivate var settled: Set<JobID> = []

        package init() {}
    }

    /// Looks at every interval, the first time after one, until cancelled.
    func run(every interval: Duration) async {
        var last = Look()
        while await environment.clock.sleep(for: interval) { last = await look(after: last) }
    }

    /// Looks once. Puts back unfinished jobs that the board lacked at the last look, too: a process that submits a job writes
    /// its record a moment before the board learns of it.
    ///
    /// - Returns: what the next look is to know; the same as before if store or board cannot be seen.
    package func look(after last: Look) async -> Look {
        guard let stored = try? await environment.store.jobs(), let known = try? await environment.board.jobs() else {
            return last
        }
        var look = Look()
        look.missing = Set(stored).subtracting(known)
        look.settled = last.settled.intersection(look.missing)
        for job in look.missing.intersection(last.missing).subtracting(look.settled).sorted(by: { $0.text < $1.text }) {
            if await putBack(job) { look.settled.insert(job) }
        }
        return look
    }

    /// Returns whether nothing is left to do for the job.
    private func putBack(_ job: JobID) async -> Bool {
        let (store, board, log) = (environment.store, environment.board, environment.log)
        do throws(ReelFailure) {
            let record = try await store.job(job).read()
            guard record.state == nil else { return true }
            switch try await Recover(store: store, board: board).recover(job) {
            case .known: break
            case .recovered(let passes):
                log.notice("put job \(job) back on the board, which had lost it; \(passes) of its passes are finished")
            case .lost(let why): throw why
            }
            return false
        } catch {
            guard error.cause != .transient else { return false }
            log.warning("job \(job) is not on the board, and cannot come back: \(error.words)")
            return true
        }
    }
}
