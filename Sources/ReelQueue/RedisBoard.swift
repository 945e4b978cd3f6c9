internal import Foundation
package import ReelCore

/// The board in Redis. A value of this type is one connection; any number of them in any number of processes see the
/// same board.
///
/// Calls are carried out one after another on a thread of the connection's own. If Redis cannot be reached, a call
/// throws after one attempt, unless the board has patience, and the next attempt connects anew, after a pause that grows
/// with every failure. What Redis refuses for good, a password for instance, has cause `.permanent`.
package actor RedisBoard: Board {
    let timing: BoardTiming
    let keys: BoardKeys
    private let address: RedisAddress
    private let name: String
    private let patience: RedisPatience?
    private let executor: BlockingExecutor
    private var connection: RedisConnection?
    private var failuresInARow = 0

    /// Runs calls on a thread of this board's own.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes a board at an address. The first call connects.
    ///
    /// - Parameters:
    ///   - name: the connection's name in Redis's list of clients, without spaces.
    ///   - namespace: which of the boards there.
    ///   - timing: leases and time-outs.
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
        executor = BlockingExecutor(name: name)
    }

    /// The memory that Redis uses and the limit that it has, both in bytes. Without a limit the second is nil.
    package func memory() throws(ReelFailure) -> (used: Int64, limit: Int64?) {
        let facts = try info("memory")
        let limit = facts["maxmemory"].flatMap { Int64($0) } ?? 0
        return (facts["used_memory"].flatMap { Int64($0) } ?? 0, limit > 0 ? limit : nil)
    }

    /// What Redis says of itself, or of one part, by name.
    private func info(_ part: String? = nil) throws(ReelFailure) -> [Substring: String] {
        let lines = try send(["INFO"] + [part].compactMap(\.self)).text().split(whereSeparator: \.isNewline)
        return Dictionary(
            lines.compactMap { line in
                line.firstIndex(of: ":").map { (line[..<$0], String(line[line.index(after: $0)...])) }
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Throws if Redis cannot be reached or does not answer.
    package func ping() throws(ReelFailure) {
        try send(["PING"])
    }

    /// What makes this Redis unfit to hold a board: its version, or its settings for durability and memory.
    package func diagnostics() throws(ReelFailure) -> [Diagnostic] {
        let facts = try info()
        var found: [Diagnostic] = []
        let version = facts["redis_version"] ?? ""
        if Int(version.prefix(while: \.isNumber)) ?? 0 < 7 {
            found.append(.redisTooOld(address: "\(address)", version: version))
        }
        if facts["aof_enabled"] != "1" {
            found.append(.redisWithoutLog(address: "\(address)"))
        }
        if facts["maxmemory_policy"] != "noeviction", facts["maxmemory"] != "0" {
            found.append(.redisEvicts(address: "\(address)"))
        }
        return found
    }
}

extension RedisBoard {
    /// The version of the keys' contents, as `board.lua` writes it.
    static let schema = 2

    /// Calls a function and returns its answer. If Redis has no functions of the board, they are loaded first. If it
    /// has older ones, they are replaced, unless the call changes nothing: then this throws `.boardUnprepared`.
    func call<Called: BoardCommand>(_ command: Called) throws(ReelFailure) -> Called.Answer {
        try call([command])[0].get()
    }

    /// Calls a function several times in one exchange, and returns the answer to each call; otherwise as a single call does. A
    /// function that changes the board must be called once only: if Redis did not know the function for one call, all calls
    /// are made again.
    func call<Called: BoardCommand>(
        _ commands: [Called]
    ) throws(ReelFailure) -> [Result<Called.Answer, ReelFailure>] {
        let sent = try commands.map { command throws(ReelFailure) in try Library.call(command, keys, timing) }
        for _ in 0..<3 {
            let replies = try exchange(sent)
            guard replies.contains(where: RedisBoard.isMismatch) else {
                return zip(commands, replies).map { command, reply in
                    Result { () throws(ReelFailure) in try command.answer(accept(reply)) }
                }
            }
            try provide(replacing: !Called.isReadOnly)
        }
        // Two releases take turns in loading theirs.
        throw ReelFailure(.boardUnprepared(found: try libraryVersion(), known: Library.version))
    }

    private static func isMismatch(_ reply: Reply) -> Bool {
        if case .error(let message) = reply { Library.Mismatch(message) != nil } else { false }
    }

    /// Milliseconds for which a blocking call may wait: `duration`, but half of the answer time-out at most.
    func blocking(_ duration: Duration) -> Int64 { min(duration.milliseconds, timing.answerTimeout.milliseconds / 2) }

    /// Sends a command and returns the reply. Throws if Redis answers with an error.
    @discardableResult
    func send(_ command: [String]) throws(ReelFailure) -> Reply {
        try accept(exchange([command])[0])
    }

    /// Sends commands together, and returns the answers. Repeats all of them, as the board's patience allows, if Redis is
    /// away; throws `.interrupted` if the task is cancelled meanwhile.
    private func exchange(_ commands: [[String]]) throws(ReelFailure) -> [Reply] {
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
        let made = try RedisConnection(
            address.endpoint, connectTimeout: timing.connectTimeout, answerTimeout: timing.answerTimeout)
        var greeting: [[String]] = []
        if let password = address.password {
            greeting.append(["AUTH"] + (address.user.map { [$0] } ?? []) + [password])
        }
        if address.database != 0 { greeting.append(["SELECT", String(address.database)]) }
        greeting.append(["CLIENT", "SETNAME", name])
        for command in greeting {
            if case .error(let message) = try made.send([command])[0] {
                throw ConnectionError(message: message, cause: cause(ofRefusal: message))
            }
        }
        connection = made
        return made
    }

    /// Waits up to 2 s, the longer the more attempts have failed, or until the task is cancelled.
    private func pause() {
        let longest = min(0.025 * Double(1 << min(failuresInARow, 8)), 2)
        let end = ContinuousClock.now + .seconds(longest * Double.random(in: 0.5...1))
        while ContinuousClock.now < end, !Task.isCancelled { Thread.sleep(forTimeInterval: min(0.05, longest / 2)) }
    }

    private func accept(_ reply: Reply) throws(ReelFailure) -> Reply {
        guard case .error(let message) = reply else { return reply }
        if message.hasPrefix("REELSCHEMA "), let found = Int(message.dropFirst("REELSCHEMA ".count)) {
            throw ReelFailure(.boardOfOtherVersion(found: found, known: RedisBoard.schema))
        }
        throw ReelFailure(
            .redisRefused(
                address: "\(address)", said: message, passes: cause(ofRefusal: message) == .transient))
    }

    /// The failure cause of an error of Redis, by the word with which the message begins.
    private func cause(ofRefusal message: String) -> FailureCause {
        let passing = [
            "LOADING", "BUSY", "OOM", "MISCONF", "READONLY", "MASTERDOWN", "NOREPLICAS", "CLUSTERDOWN", "UNBLOCKED",
        ]
        return passing.contains { message.hasPrefix($0) } ? .transient : .permanent
    }

    /// Whether the reply says that this Redis does not hold the board, or not yet.
    private static func isOfAnother(_ reply: Reply) -> Bool {
        guard case .error(let message) = reply else { return false }
        return ["READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "MOVED", "ASK", "UNBLOCKED"].contains {
            message.hasPrefix($0 + " ")
        }
    }
}
