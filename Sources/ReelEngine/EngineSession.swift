public import ReelCore

/// A running engine, inside `EngineHost.withEngine`. It takes one request at a time.
public final class EngineSession: Sendable {
    /// What the engine reported about itself when it was ready.
    public let identity: EngineIdentity
    private let process: EngineProcess

    init(_ process: EngineProcess, identity: EngineIdentity) {
        self.process = process
        self.identity = identity
    }

    /// Sends a request and waits for its result. Cancelling the task kills the engine.
    ///
    /// - Parameter progress: called with each progress event, in order, at most four times a second.
    /// - Throws: the engine's own failure as it is, after which it takes the next request; cause crash if it died, hung
    ///   or broke the protocol, naming the signal and the frames being processed; kind interrupted if the task was
    ///   cancelled. After the last two the session is dead.
    public func perform(
        _ request: EngineRequest, progress: @escaping @Sendable (EngineProgress) -> Void = { _ in }
    ) async throws(ReelFailure) -> EngineResult {
        try await process.perform(request, progress: progress)
    }

    /// Sends the request of an assembly, names the segments to it as they become known, and waits for the result.
    /// Cancelling the task kills the engine.
    ///
    /// - Parameters:
    ///   - progress: as of `perform`.
    ///   - next: gives the next segments, nil when all are named. If it throws, the engine is killed.
    /// - Throws: what `perform` throws, and what `next` throws.
    public func assemble(
        _ request: AssembleRequest, progress: @escaping @Sendable (EngineProgress) -> Void = { _ in },
        next: @escaping @Sendable () async throws(ReelFailure) -> [StoredSegment]?
    ) async throws(ReelFailure) -> EngineResult {
        try await process.perform(.assemble(request), progress: progress, next: next)
    }

    /// The last 64 KiB that the engine wrote on standard error.
    public var standardErrorTail: String { process.standardError.text }

    /// Whether the engine has ended, or is about to because it was killed.
    public var isDead: Bool { process.isDead }
}
