internal import Foundation
internal import ReelCore
internal import ReelQueue
internal import ReelTerminal
internal import ReelWords

extension RedisOption {
    /// A board that has answered. Says what is wrong with the Redis, if it can be worked with all the same.
    func connect(warnings: Bool = false) async throws(ReelFailure) -> RedisBoard {
        let board = RedisBoard(try address(), name: "reel-coordinator-\(ProcessInfo.processInfo.processIdentifier)")
        do {
            try await board.ping()
        } catch {
            throw ReelFailure(.redisUnusable(last: error))
        }
        if warnings {
            for warning in try await board.diagnostics() { console.say("warning: \(warning.words)") }
        }
        return board
    }
}
