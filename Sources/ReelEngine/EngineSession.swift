public import ReelCore

/// An engine in a process of its own, inside `EngineHost.withEngine`.
public final class EngineSession: Engine {
    public let identity: EngineIdentity
    private let process: EngineProcess

    init(_ process: EngineProcess, identity: EngineIdentity) {
        self.process = process
        self.identity = identity
    }

    public func perform(
        _ request: EngineRequest, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> EngineResult {
        try await process.perform(request, progress: progress)
    }

    public func assemble(
        _ request: AssembleRequest, progress: @escaping @Sendable (EngineProgress) -> Void,
        next: @escaping @Sendable () async throws(ReelFailure) -> [StoredSegment]?
    ) async throws(ReelFailure) -> EngineResult {
        try await process.perform(.assemble(request), progress: progress, next: next)
    }

    public var standardErrorTail: String { process.standardError.text }

    /// Whether the engine has ended, or is about to because it was killed.
    public var isDead: Bool { process.isDead }
}
