internal import Logging
internal import ReelCore
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// Looks after the board where Redis was started anew or lost what it had. Every worker runs one.
struct Auditor: Sendable {
    let store: Store
    let board: Board
    let interval: Duration
    let log: Logger

    /// Runs until cancelled.
    func run() async {
        var saidEmpty = false
        repeat {
            do throws(ReelFailure) {
                if let audit = try await board.auditAfterRestart(), audit.repairs > 0 {
                    log.notice("the board was audited: \(audit.repairs) repairs in \(audit.jobs) jobs")
                }
                let isEmpty = try await board.isEmpty()
                if isEmpty, !saidEmpty { sayWhatIsLost() }
                saidEmpty = isEmpty
            } catch {
                log.debug("no audit: \(error.words)")
            }
        } while (try? await Task.sleep(for: interval)) != nil
    }

    private func sayWhatIsLost() {
        let unfinished = ((try? store.unfinishedJobs()) ?? []).count
        guard unfinished > 0 else { return }
        log.warning(
            """
            the board knows no job, but the store \(store.root) has \(unfinished) unfinished: they can be recovered
            """)
    }
}

extension Store {
    /// Jobs that have not ended, as far as the store knows.
    func unfinishedJobs() throws(ReelFailure) -> [JobID] {
        try jobs().filter { job in
            guard let record = try? self.job(job).read() else { return false }
            return record.state == nil
        }
    }
}
