internal import ReelCore
internal import ReelTerminal
internal import ReelWords
internal import Synchronization

/// Prints lines on standard error, and each of them only the first time.
final class Notes: Sendable {
    private let said = Mutex(Set<String>())

    func say(_ line: String) {
        if said.withLock({ $0.insert(line).inserted }) { console.say(line) }
    }

    /// Why Redis does not answer.
    func say(_ failure: ReelFailure) { say("waiting for Redis: \(failure.words)") }
}
