internal import Logging
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelWords

/// Checks the board after Redis was started anew, and reports jobs that the board has lost. Every worker runs one.
package struct Auditor: Sendable {
    private let environment: WorkerEnvironment

    package init(_ environment: WorkerEnvironment) { self.environment = environment }

    /// Looks at every interval, the first time at once, until cancelled.
    func run(every interval: Duration) async {
        var wasEmpty = false
        repeat { wasEmpty = await look(wasEmpty: wasEmpty) } while await environment.clock.sleep(for: interval)
    }

    /// Looks once. If the board is empty and was not before, it reports the unfinished jobs of the store.
    ///
    /// - Parameter wasEmpty: the result of the last look.
    /// - Returns: whether the board is empty; `wasEmpty` if that cannot be seen.
    package func look(wasEmpty: Bool) async -> Bool {
        do throws(ReelFailure) {
            if let audit = try await environment.board.auditAfterRestart() {
                if audit.repairs > 0 {
                    environment.log.notice("the board was audited: \(audit.repairs) repairs in \(audit.jobs) jobs")
                }
                report(lost: audit.lost)
            }
            let isEmpty = try await environment.board.isEmpty()
            if isEmpty, !wasEmpty { await report(lost: (try? environment.store.unfinishedJobs()) ?? []) }
            return isEmpty
        } catch {
            environment.log.debug("no audit: \(error.words)")
            return wasEmpty
        }
    }

    private func report(lost jobs: [JobID]) {
        guard !jobs.isEmpty else { return }
        let failure = ReelFailure(.boardLost(jobs: jobs))
        environment.log.error("\(failure.words)", metadata: ["code": "\(failure.reason.code)"])
    }
}
