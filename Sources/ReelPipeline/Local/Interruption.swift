internal import Glibc
internal import Logging
public import ReelCore
internal import ServiceLifecycle
internal import Synchronization
internal import UnixSignals

/// Ctrl-C and its like, as the cancellation of a task.
public enum Interruption {
    /// Runs the body; SIGINT, SIGTERM and SIGHUP cancel it. A second SIGINT or SIGTERM ends the program at once: the first
    /// cannot, while a call of the system hangs. Throws what it throws, `.interrupted` where a signal came.
    public static func cancelling<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws(ReelFailure) -> Result {
        let outcome = Mutex<Swift.Result<Result, ReelFailure>?>(nil)
        let service = ClosureService {
            // Not before the group listens: a first signal that this alone heard would be lost.
            let second = SecondSignal { _exit(130) }
            defer { withExtendedLifetime(second) {} }
            do {
                let result = try await body()
                outcome.withLock { $0 = .success(result) }
            } catch {
                outcome.withLock { $0 = .failure(.of(error)) }
            }
        }
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
                cancellationSignals: [.sigint, .sigterm, .sighup],
                logger: Logger(label: "reel") { _ in SwiftLogNoOpLogHandler() }))
        // How the group ended says nothing that the outcome does not.
        try? await group.run()
        guard let result = outcome.withLock({ $0 }) else { throw .of(CancellationError()) }
        return try result.get()
    }
}
