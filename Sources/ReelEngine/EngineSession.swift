package import ReelCore

/// An engine in a process of its own, inside `EngineHost.withEngine`.
package final class EngineSession: Engine {
    /// The engine's report about itself when it was ready.
    package let identity: EngineIdentity
    private let process: EngineProcess

    init(_ process: EngineProcess, identity: EngineIdentity) {
        self.process = process
        self.identity = identity
    }

    /// Sends a request and waits for its result. Throws as `Engine` says.
    package func perform(
        _ request: EngineRequest, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> EngineResult {
        try await process.perform(request, progress: progress)
    }

    /// Sends the request of an assembly, names its segments as they become known, and waits for the result. Throws as
    /// `Engine` says.
    package func assemble(
        _ request: AssembleRequest, progress: @escaping @Sendable (EngineProgress) -> Void,
        next: @escaping @Sendable () async throws(ReelFailure) -> [StoredSegment]?
    ) async throws(ReelFailure) -> EngineResult {
        try await process.perform(.assemble(request), progress: progress, next: next)
    }

    /// The end of the engine's standard error, 64 KiB at most.
    package var standardErrorTail: String { process.standardError.text }

    /// Seconds of CPU time that the engine has taken, by the kernel's count; 0 once it has ended.
    package var cpuSeconds: Double { process.cpuSeconds }

    /// Whether the engine has ended, or is about to because it was killed.
    package var isDead: Bool { process.isDead }
}
