internal import Logging
internal import ReelCore
internal import ReelQueue
internal import ReelWords

/// Gives the passes of workers that vanished to others. Every worker runs one.
struct Reaper: Sendable {
    let board: any Board
    let interval: Duration
    let log: Logger

    /// Runs until cancelled.
    func run() async {
        while (try? await Task.sleep(for: interval)) != nil {
            do throws(ReelFailure) {
                let count = try await board.reap()
                if count > 0 { log.notice("\(count) expired leases were given back") }
            } catch {
                log.debug("nothing reaped: \(error.words)")
            }
        }
    }
}
