internal import ReelCore
internal import ReelTerminal
internal import ReelWords
internal import Synchronization

/// Lines on standard error of which each is said once, however often there is a reason.
final class Notes: Sendable {
    private let said = Mutex(Set<String>())

    func say(_ line: String) {
        if said.withLock({ $0.insert(line).inserted }) { console.say(line) }
    }

    /// Why Redis does not answer.
    func say(_ failure: ReelFailure) { say("waiting for Redis: \(failure.words)") }
}
