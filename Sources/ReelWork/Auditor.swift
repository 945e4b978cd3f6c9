internal import Logging
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// Looks after the board where Redis was started anew or lost what it had. Every worker runs one.
struct Auditor: Sendable {
    let store: Store
    let board: any Board
    let interval: Duration
    let log: Logger

    /// Runs until cancelled.
    func run() async {
        var saidEmpty = false
        repeat {
            do throws(ReelFailure) {
                if let audit = try await board.auditAfterRestart() {
                    if audit.repairs > 0 {
                        log.notice("the board was audited: \(audit.repairs) repairs in \(audit.jobs) jobs")
                    }
                    say(audit.lost)
                }
                let isEmpty = try await board.isEmpty()
                if isEmpty, !saidEmpty { say((try? store.unfinishedJobs()) ?? []) }
                saidEmpty = isEmpty
            } catch {
                log.debug("no audit: \(error.words)")
            }
        } while (try? await Task.sleep(for: interval)) != nil
    }

    private func say(_ lost: [JobID]) {
        guard !lost.isEmpty else { return }
        let failure = ReelFailure(.boardLost(jobs: lost))
        log.error("\(failure.words)", metadata: ["code": "\(failure.reason.code)"])
    }
}
