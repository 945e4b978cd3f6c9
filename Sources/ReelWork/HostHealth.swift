internal import Foundation
internal import Logging
package import ReelCore
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// Whether a worker's host can do work: its disks have room, and the store can be written. While it cannot, the worker
/// claims nothing. It is the host of all slots; each has a `SlotHealth` of its own.
package actor HostHealth {
    private let environment: WorkerEnvironment
    /// Free bytes when a disk was full, and when that was; nil if none is.
    private var full: (free: Int64, since: Duration)?
    /// Whether a file of the store could not be used since the store was last seen to be writable.
    private var doubtsStore = false
    /// Jobs that exclude this worker because a file of the store could not be used, and how often that happened.
    private var barred: [JobID: Int] = [:]
    /// Those of them to which the worker returns when the store can be used.
    private var missed: Set<JobID> = []

    private var store: any JobStore { environment.store }

    init(_ environment: WorkerEnvironment) { self.environment = environment }

    /// Notes a failure. If it is this host's, the worker claims nothing until the cause is gone: until a full disk has
    /// more room, or for a minute, because the room that a quota leaves cannot be seen; until the store can be written.
    package func heed(_ failure: ReelFailure, in job: JobID) async {
        if failure.cause == .noSpace {
            full = (await freeSpace, environment.clock.now)
            environment.notes.setFull([store.name, environment.scratch])
        }
        if failure.owner == .host { doubtsStore = true }
        if failure.reason.isOfStore {
            barred[job, default: 0] += 1
            // If it happens again and again while the store can be written, the folder of that job is at fault.
            if barred[job, default: 0] <= HostHealth.patience { missed.insert(job) }
        }
    }

    /// So often a worker returns to a job that excluded it.
    private static let patience = 5

    /// Looks whether the causes of failures are gone. If so, jobs admit this worker again that excluded it because a
    /// file of the store could not be used.
    func admitsWork() async -> Bool {
        guard await hasSpace(), await hasStore() else { return false }
        await readmit()
        return true
    }

    private func hasSpace() async -> Bool {
        guard let full else { return true }
        let room: Int64 = 64 << 20
        let isRoom = await freeSpace >= full.free + room
        guard isRoom || environment.clock.now - full.since > BoardTiming().rest else { return false }
        environment.log.notice("tries whether the disk of \(store.name) or \(environment.scratch) has room again")
        self.full = nil
        environment.notes.setFull(nil)
        return true
    }

    private func hasStore() async -> Bool {
        guard doubtsStore else { return true }
        let (notes, log) = (environment.notes, environment.log)
        do throws(ReelFailure) {
            try await store.tryWorking()
            doubtsStore = false
            if notes.setStoreFailure(nil) { log.notice("the store can be written again") }
        } catch {
            if notes.setStoreFailure(error) { log.error("claims nothing: \(error.words)") }
        }
        return !doubtsStore
    }

    private func readmit() async {
        guard !missed.isEmpty else { return }
        do throws(ReelFailure) {
            if try await environment.board.readmit(environment.worker, to: Array(missed)) > 0 {
                environment.log.notice("comes back to jobs of the store")
            }
            missed = []
        } catch {
            environment.log.warning("\(error.words)")
        }
    }

    /// Free bytes of the store or of the scratch disk, whichever has fewer.
    private var freeSpace: Int64 {
        get async {
            let attributes = try? FileManager.default.attributesOfFileSystem(forPath: environment.scratch)
            let scratch = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
            return min(await store.freeSpace ?? .max, scratch)
        }
    }
}
