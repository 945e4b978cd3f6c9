package import ReelCore

/// A running engine. It takes one request at a time.
///
/// ``EngineSession`` is an engine in a process of its own. Tests of the worker have engines that answer in their
/// process.
package protocol Engine: Sendable {
    /// The engine's report about itself when it was ready.
    var identity: EngineIdentity { get }

    /// The end of the engine's standard error, 64 KiB at most.
    var standardErrorTail: String { get }

    /// Seconds of CPU time that the engine has taken, by the kernel's count; 0 once it has ended.
    var cpuSeconds: Double { get }

    /// Sends a request and waits for its result. Cancelling the task kills the engine.
    ///
    /// - Parameter progress: called with each progress event, in order, at most four times a second.
    /// - Throws: the engine's own failure as it is, after which it takes the next request; cause crash if it died, hung
    ///   or broke the protocol, naming the signal and the frames being processed; kind interrupted if the task was
    ///   cancelled. After the last two the engine is dead.
    func perform(
        _ request: EngineRequest, progress: @escaping @Sendable (EngineProgress) -> Void
    ) async throws(ReelFailure) -> EngineResult

    /// Sends the request of an assembly, names the segments to it as they become known, and waits for the result.
    /// Cancelling the task kills the engine.
    ///
    /// - Parameters:
    ///   - progress: as of `perform`.
    ///   - next: gives the next segments, nil when all are named. If it throws, the engine is killed.
    /// - Throws: what `perform` throws, and what `next` throws.
    func assemble(
        _ request: AssembleRequest, progress: @escaping @Sendable (EngineProgress) -> Void,
        next: @escaping @Sendable () async throws(ReelFailure) -> [StoredSegment]?
    ) async throws(ReelFailure) -> EngineResult
}

extension Engine {
    /// Sends a request and waits for its result; its progress is of no interest.
    package func perform(_ request: EngineRequest) async throws(ReelFailure) -> EngineResult {
        try await perform(request) { _ in }
    }
}

/// Starts and ends engines.
package protocol EngineRunner: Sendable {
    /// Starts an engine, waits until it is ready, runs `body` with it and ends it.
    ///
    /// When this returns, on any path, nothing of the engine is left. Cancelling the task kills it at once. An engine
    /// dies with its first crash: start another for the next pass.
    ///
    /// - Parameters:
    ///   - memory: bytes that the engine's passes may take; nil for an engine that does none.
    ///   - scope: the files that the engine may reach, for all of its requests.
    /// - Throws: what `body` throws; `ReelFailure` with cause incompatible if the engine cannot be started or speaks
    ///   another protocol version, crash if it dies before it is ready, kind interrupted if the task was cancelled
    ///   before that.
    nonisolated(nonsending) func withEngine<R: Sendable>(
        memory: Int64?, scope: EngineScope, _ body: nonisolated(nonsending) (any Engine) async throws -> R
    ) async throws -> R
}
