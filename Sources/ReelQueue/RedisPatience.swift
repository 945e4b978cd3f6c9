package import ReelCore
internal import Synchronization

/// How long the boards of a program repeat a call while Redis is away: it is starting again, still reads its log, or is
/// no master for the moment.
///
/// All boards of a program share one, since it begins with the first answer to any of them: a program that never reached
/// Redis is told at once.
///
/// A call is repeated although Redis may have carried it out and ended before it could answer. Every function of the
/// board allows that (see docs/board.md); the second answer may then say that what was asked for is already so.
package final class RedisPatience: Sendable {
    /// Hears why Redis does not answer, again and again, once it has been away for longer than this.
    static let quiet = Duration.seconds(3)

    let limit: Duration
    private let away: @Sendable (ReelFailure) -> Void
    private let answered = Atomic(false)

    /// - Parameters:
    ///   - limit: how long one call is repeated.
    ///   - away: hears why Redis does not answer, with each attempt from the third second on.
    package init(_ limit: Duration, away: @escaping @Sendable (ReelFailure) -> Void = { _ in }) {
        self.limit = limit
        self.away = away
    }

    /// Redis has carried out a command.
    func hasAnswered() { answered.store(true, ordering: .relaxed) }

    /// Whether a call is repeated that failed so, a time after its first attempt.
    func repeats(_ failure: ReelFailure, after time: Duration) -> Bool {
        guard answered.load(ordering: .relaxed), failure.cause == .transient, time < limit else { return false }
        if time >= RedisPatience.quiet { away(failure) }
        return true
    }
}
