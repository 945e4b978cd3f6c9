internal import Foundation
public import ReelCore

/// The time by Redis's clock and by this machine's, in seconds since 1970. Either may be wrong.
public struct Clocks: Hashable, Sendable {
    /// Redis's clock.
    public var board: Double
    /// This machine's clock.
    public var host: Double

    package init(board: Double, host: Double) {
        self.board = board
        self.host = host
    }

    /// The earlier of the two. A time before it has passed by both clocks.
    public var earlier: Double { min(board, host) }

    /// The later of the two. Retention counts from it, so that nothing is removed too early if one clock is wrong.
    public var later: Double { max(board, host) }
}

extension RedisBoard {
    /// Asks Redis for its time, and this machine for its own.
    public func clocks() throws(ReelFailure) -> Clocks {
        Clocks(board: Double(try microseconds()) / 1_000_000, host: Date().timeIntervalSince1970)
    }

    /// Redis's time, in microseconds since 1970.
    func microseconds() throws(ReelFailure) -> Int64 {
        let reply = try send(["TIME"])
        guard let parts = reply.array?.map({ $0.string.flatMap(Int64.init) }), parts.count == 2,
            let seconds = parts[0], let microseconds = parts[1]
        else { throw reply.surprise }
        return seconds * 1_000_000 + microseconds
    }
}

extension Board {
    /// The later of both clocks' times, in seconds since 1970; this machine's if the board is out of reach.
    public func endOfNow() async -> Double { (try? await clocks().later) ?? Date().timeIntervalSince1970 }
}
