package import ReelCore
package import ReelQueue

extension JobService {
    package enum DrainOutcome: Hashable, Sendable {
        /// The worker or host of that name is drained; this many live workers are told.
        case drained(String, DrainScope, workers: Int)
        /// The worker has not beaten for a lease, so that there is nothing to drain.
        case gone(WorkerID)
    }

    package enum UndrainOutcome: Hashable, Sendable {
        /// With a host's workers that stay drained, each by itself.
        case undrained(String, DrainScope, butNot: [WorkerID])
        /// The worker stays drained, because its host is.
        case hostIsDrained(WorkerID, host: String)
        case wasNotDrained(String)
    }

    /// Gives a worker, or a host's workers, nothing more: they finish the passes that they hold, and wait. A host is
    /// drained until `undrain`, a worker until it ends.
    ///
    /// Throws `.workerUnknown` if neither a worker nor a worker's host has that name.
    ///
    /// - Parameter name: a worker's id, or the name of a host.
    package func drain(_ name: String) async throws(ReelFailure) -> DrainOutcome {
        let workers = try await board.workers()
        if let worker = workers.first(where: { $0.report.worker.text == name }) {
            guard !worker.isGone, try await board.drain(.worker, name) else { return .gone(worker.report.worker) }
            return .drained(name, .worker, workers: 1)
        }
        let those = workers.filter { $0.report.host == name }
        guard !those.isEmpty else { throw ReelFailure(.workerUnknown(name: name)) }
        _ = try await board.drain(.host, name)
        return .drained(name, .host, workers: those.count { !$0.isGone })
    }

    /// Takes a drain back, so that workers claim again.
    ///
    /// Throws `.workerUnknown` if nothing of that name is drained, and neither a worker nor a worker's host has it.
    package func undrain(_ name: String) async throws(ReelFailure) -> UndrainOutcome {
        let workers = try await board.workers()
        let ofWorker = try await board.undrain(.worker, name)
        let ofHost = try await board.undrain(.host, name)
        let worker = workers.first { $0.report.worker.text == name }
        if let worker, worker.drained == .host { return .hostIsDrained(worker.report.worker, host: worker.report.host) }
        if ofWorker || ofHost {
            let left = workers.filter { ofHost && !$0.isGone && $0.report.host == name && $0.drained == .worker }
            return .undrained(name, ofHost ? .host : .worker, butNot: left.map(\.report.worker))
        }
        guard worker != nil || workers.contains(where: { $0.report.host == name }) else {
            throw ReelFailure(.workerUnknown(name: name))
        }
        return .wasNotDrained(name)
    }
}
