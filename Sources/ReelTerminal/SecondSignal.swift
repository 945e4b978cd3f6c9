internal import Dispatch
internal import Glibc
internal import Synchronization

/// Calls its action at the second SIGTERM or SIGINT. The service group handles the first, and ignores later ones.
final class SecondSignal {
    private let sources: [any DispatchSourceSignal]

    init(_ action: @escaping @Sendable () -> Void) {
        let counter = Counter()
        sources = [SIGTERM, SIGINT].map { DispatchSource.makeSignalSource(signal: $0) }
        for source in sources {
            source.setEventHandler {
                if counter.next() == 2 { action() }
            }
            source.resume()
        }
    }

    private final class Counter: Sendable {
        private let count = Atomic(0)
        func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    }
}
