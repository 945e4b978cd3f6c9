internal import Foundation
package import ReelCore

extension RedisBoard {
    /// Asks Redis for its time, and this machine for its own.
    package func clocks() throws(ReelFailure) -> Clocks {
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
