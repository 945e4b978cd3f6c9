internal import Glibc
internal import Logging
public import ReelCore
internal import ReelJobs
public import ServiceLifecycle
internal import Synchronization
internal import UnixSignals

/// Ctrl-C and its like, as the cancellation of a task or the end of a service.
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
                cancellationSignals: [.sigint, .sigterm, .sighup], logger: quiet))
        // How the group ended says nothing that the outcome does not.
        try? await group.run()
        guard let result = outcome.withLock({ $0 }) else { throw .of(CancellationError()) }
        return try result.get()
    }

    /// Runs the service until it ends; the first SIGTERM or SIGINT has it shut down gracefully, the second calls
    /// `endNow`. Throws what the service throws.
    public static func shuttingDown(
        _ service: some Service, endNow: @escaping @Sendable () -> Void
    ) async throws(ReelFailure) {
        let listening = ClosureService {
            // As above.
            let second = SecondSignal(endNow)
            defer { withExtendedLifetime(second) {} }
            try await service.run()
        }
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(
                        service: listening, successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .cancelGroup)
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet))
        try await ReelFailure.unifying { try await group.run() }
    }

    /// ServiceLifecycle's own log says nothing that people want to read.
    private static var quiet: Logger { Logger(label: "reel") { _ in SwiftLogNoOpLogHandler() } }
}
