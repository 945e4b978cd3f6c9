internal import Foundation
internal import Logging
internal import ReelCore
internal import ReelHost
internal import ReelJobs
internal import ReelStore
internal import ReelWords
internal import ServiceLifecycle

/// Once a minute removes uploads that have expired, and returns memory: requests for large jobs take hundreds of MiB for a few
/// seconds.
struct Sweeper: Service {
    let store: any JobStore
    let uploads: Uploads
    let log: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat {
                do {
                    try await StoreExecutor.shared.run { [store, uploads] in
                        try await store.check()
                        try uploads.removeExpired(now: Date().timeIntervalSince1970)
                    }
                } catch is CancellationError {
                    return
                } catch {
                    let failure = ReelFailure.of(error)
                    log.error("\(failure.words)", metadata: ["code": "\(failure.reason.code)"])
                }
                OwnProcess.returnFreeMemory()
            } while (try? await Task.sleep(for: .seconds(60))) != nil
        }
    }
}
