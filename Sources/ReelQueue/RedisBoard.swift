internal import Foundation
package import ReelCore
internal import Synchronization

/// The board in Redis. A value of this type is one connection; any number of them in any number of processes see the
/// same board.
///
/// Calls are carried out one after another on a thread of the connection's own. If Redis cannot be reached, a call
/// throws after one attempt, unless the board has patience, and the next attempt connects anew, after a pause that
/// grows with every failure. What Redis refuses for good, a password for instance, has cause `.permanent`.
package actor RedisBoard: Board {
    let timing: BoardTiming
    let keys: BoardKeys
    let address: RedisAddress
    private let name: String
    private let patience: RedisPatience?
    private let executor: SerialThreadExecutor
    private var connection: RedisConnection?
    private var failuresInARow = 0

    /// Runs calls on a thread of this board's own.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes a board at an address. The first call connects.
    ///
    /// - Parameters:
    ///   - name: the connection's name in Redis's list of clients, without spaces.
    ///   - namespace: which of the boards there.
    ///   - patience: how long a call is repeated while Redis is away; nil for one attempt.
    package init(
        _ address: RedisAddress, name: String, namespace: Namespace = .main, timing: BoardTiming = BoardTiming(),
        patience: RedisPatience? = nil
    ) {
        self.address = address
        self.name = name
        self.patience = patience
        self.timing = timing
        keys = BoardKeys(namespace)
        executor = SerialThreadExecutor(name: name)
    }
}

extension RedisBoard {
    /// The version of the keys' contents, as `base.lua` writes it.
    static let schema = 2

    /// Milliseconds for which a blocking call may wait: `duration`, but half of the answer time-out at most.
    func blocking(_ duration: Duration) -> Int64 { min(duration.milliseconds, timing.answerTimeout.milliseconds / 2) }

    /// Sends a command and returns the reply. Throws if Redis answers with an error.
    @discardableResult
    func send(_ command: [String]) throws(ReelFailure) -> Reply {
        try accept(exchange([command])[0])
    }

    /// Sends commands together, and returns the answers. Repeats all of them, as the board's patience allows, if Redis
    /// is away; throws `.interrupted` if the task is cancelled meanwhile.
    func exchange(_ commands: [[String]]) throws(ReelFailure) -> [Reply] {
        let begun = ContinuousClock.now
        while true {
            do throws(ReelFailure) {
                let replies = try exchangeOnce(commands)
                guard let refused = replies.first(where: RedisBoard.isOfAnother) else {
                    patience?.hasAnswered()
                    return replies
                }
                guard let patience, case .error(let said) = refused else { return replies }
                let failure = ReelFailure(.redisRefused(address: "\(address)", said: said, passes: true))
                guard patience.repeats(failure, after: .now - begun) else { return replies }
            } catch {
                guard let patience, patience.repeats(error, after: .now - begun) else { throw error }
            }
            guard !Task.isCancelled else { throw ReelFailure(.interrupted) }
        }
    }

    private func exchangeOnce(_ commands: [[String]]) throws(ReelFailure) -> [Reply] {
        do throws(ConnectionError) {
            let replies = try connected().send(commands)
            // The name may lead to another Redis by now, so the next attempt resolves it anew.
            if replies.contains(where: RedisBoard.isOfAnother) {
                connection = nil
                failuresInARow += 1
            } else {
                failuresInARow = 0
            }
            return replies
        } catch {
            connection = nil
            failuresInARow += 1
            throw ReelFailure(
                .redisUnreachable(address: "\(address)", said: error.message, passes: error.cause == .transient))
        }
    }

    /// The connection. If there is none, it is made now, after a pause of up to 2 s if the last attempts have failed.
    private func connected() throws(ConnectionError) -> RedisConnection {
        if let connection { return connection }
        if failuresInARow > 1 { pause() }
        let made = try address.connect(named: name, timing)
        connection = made
        return made
    }

    /// Waits up to 2 s, the longer the more attempts have failed, or until the task is cancelled.
    private func pause() {
        let longest = min(0.025 * Double(1 << min(failuresInARow, 8)), 2)
        let end = ContinuousClock.now + .seconds(longest * Double.random(in: 0.5...1))
        while ContinuousClock.now < end, !Task.isCancelled { Thread.sleep(forTimeInterval: min(0.05, longest / 2)) }
    }

    /// The reply, unless it is an error, which is thrown.
    func accept(_ reply: Reply) throws(ReelFailure) -> Reply {
        guard case .error(let message) = reply else { return reply }
        if message.hasPrefix("REELSCHEMA "), let found = Int(message.dropFirst("REELSCHEMA ".count)) {
            throw ReelFailure(.boardOfOtherVersion(found: found, known: RedisBoard.schema))
        }
        throw ReelFailure(
            .redisRefused(
                address: "\(address)", said: message, passes: FailureCause(ofRefusal: message) == .transient))
    }

    /// Whether the reply says that this Redis does not hold the board, or not yet.
    private static func isOfAnother(_ reply: Reply) -> Bool {
        guard case .error(let message) = reply else { return false }
        return ["READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "MOVED", "ASK", "UNBLOCKED"].contains {
            message.hasPrefix($0 + " ")
        }
    }
}

/// How long the boards of a program repeat a call while Redis is away: it is starting again, still reads its log, or is
/// no master for the moment.
///
/// All boards of a program share one, since it begins with the first answer to any of them: a program that never
/// reached Redis is told at once.
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

/// Makes boards that all show the same jobs. A program needs several: a call that waits holds back every other call on
/// its board.
package struct BoardConnections: Sendable {
    private let make: @Sendable (_ name: String) -> any Board

    /// - Parameter make: makes a board; the name appears in the server's list of connections, and has no spaces.
    package init(_ make: @escaping @Sendable (_ name: String) -> any Board) { self.make = make }

    /// Connections to one of the boards in the Redis at an address. Each connects with its first call.
    package init(redis address: RedisAddress, namespace: Namespace) {
        self.init { RedisBoard(address, name: $0, namespace: namespace) }
    }

    /// A board of the caller's own.
    package func board(named name: String) -> any Board { make(name) }
}
