internal import Dispatch
internal import Glibc
internal import Logging
package import ReelCore
internal import ReelJobs
package import ServiceLifecycle
internal import Synchronization
internal import UnixSignals

/// Ctrl-C and its like, as the cancellation of a task or the end of a service.
package enum Interruption {
    /// Runs the body; SIGINT, SIGTERM and SIGHUP cancel it. A second SIGINT or SIGTERM ends the program at once, since
    /// cancellation has no effect while a system call hangs. Throws what the body throws, or `.interrupted` if a signal
    /// cancelled it.
    package static func cancelling<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws(ReelFailure) -> Result {
        let outcome = Mutex<Swift.Result<Result, ReelFailure>?>(nil)
        let service = ClosureService {
            // Made here, when the group already listens: if only this one listened, the first signal would be lost.
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
        // The outcome says how the body ended, so the group's error adds nothing.
        try? await group.run()
        guard let result = outcome.withLock({ $0 }) else { throw .of(CancellationError()) }
        return try result.get()
    }

    /// Runs the service until it ends. The first SIGTERM or SIGINT shuts it down gracefully, the second calls `endNow`.
    /// Throws what the service throws.
    package static func shuttingDown(
        _ service: some Service, endNow: @escaping @Sendable () -> Void
    ) async throws(ReelFailure) {
        let listening = ClosureService {
            // Made here for the same reason as in `cancelling`.
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

    /// Drops ServiceLifecycle's own log, which tells users nothing.
    private static var quiet: Logger { Logger(label: "reel") { _ in SwiftLogNoOpLogHandler() } }
}

/// Calls its action at the second SIGTERM or SIGINT. The service group handles the first, and ignores later ones.
final class SecondSignal {
    private let sources: [any DispatchSourceSignal]

    init(_ action: @escaping @Sendable () -> Void) {
        let counter = Counter()
        sources = [SIGTERM, SIGINT].map { DispatchSource.makeSignalSource(signal: $0) }
        for source in sources {
            source.setEventHandler { if counter.next() == 2 { action() } }
            source.resume()
        }
    }

    private final class Counter: Sendable {
        private let count = Atomic(0)
        func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    }
}
