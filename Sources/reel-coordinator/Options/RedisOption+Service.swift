internal import Foundation
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelTerminal

extension RedisOption {
    /// A service whose Redis has answered.
    ///
    /// - Parameter warnings: whether to print what makes this Redis unfit to keep a board.
    func service(_ store: (any JobStore)? = nil, warnings: Bool = false) async throws(ReelFailure) -> JobService {
        let (address, namespace, process) = (try address(), try namespace(), ProcessInfo.processInfo.processIdentifier)
        let service = JobService(store: store, advice: { Advice.text(for: $0) }) {
            RedisBoard(address, name: "reel-coordinator-\(process)", namespace: namespace)
        }
        try await service.reach()
        if warnings {
            for diagnostic in try await service.diagnostics() { console.warn(diagnostic) }
        }
        return service
    }

    /// A service whose Redis has answered, for changes: its board and its store belong together.
    func service(joining store: any JobStore, warnings: Bool = false) async throws(ReelFailure) -> JobService {
        let service = try await service(store, warnings: warnings)
        try await service.join()
        return service
    }
}
