internal import Foundation
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelTerminal

extension RedisOption {
    /// A service whose Redis has answered. If Redis is away later, for example because it starts again, calls wait for it
    /// for a minute, and a line says so.
    ///
    /// - Parameter warnings: whether to print what makes this Redis unfit to keep a board.
    func service(_ store: (any JobStore)? = nil, warnings: Bool = false) async throws(ReelFailure) -> JobService {
        let (address, namespace, process) = (try address(), try namespace(), ProcessInfo.processInfo.processIdentifier)
        let notes = Notes()
        let patience = RedisPatience(.seconds(60)) { notes.say($0) }
        let service = JobService(store: store, advice: { Advice.text(for: $0) }) {
            RedisBoard(address, name: "reel-coordinator-\(process)", namespace: namespace, patience: patience)
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
