internal import ReelCore
internal import ReelStore

/// Looks whether the store is at its place, for monitoring. A file system may hang, so that those who ask are told what the
/// last look found.
package struct StoreWatch: Sendable {
    private let environment: WorkerEnvironment

    package init(_ environment: WorkerEnvironment) { self.environment = environment }

    /// Looks at once and at every interval, until cancelled.
    func run(every interval: Duration) async {
        repeat { await look() } while await environment.clock.sleep(for: interval)
    }

    /// Looks once.
    package func look() async {
        let store = environment.store
        let room = await withTaskExecutorPreference(StoreExecutor.shared) { () -> WorkerSigns.Room? in
            do throws(ReelFailure) { try await store.check() } catch { return nil }
            return WorkerSigns.Room(freeBytes: await store.freeSpace)
        }
        environment.signs.setStore(room)
    }
}
