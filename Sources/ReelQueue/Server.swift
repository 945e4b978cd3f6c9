internal import Foundation
package import ReelCore

/// The time by Redis's clock and by this machine's, in seconds since 1970. Either may be wrong.
package struct Clocks: Hashable, Sendable {
    package var board: Double
    package var host: Double

    package init(board: Double, host: Double) {
        self.board = board
        self.host = host
    }

    /// The earlier of the two. A time before it has passed by both clocks.
    package var earlier: Double { min(board, host) }

    /// The later of the two. Retention counts from it, so that nothing is removed too early if one clock is wrong.
    package var later: Double { max(board, host) }
}

extension Board {
    /// The later of both clocks' times, in seconds since 1970; this machine's if the board is out of reach.
    package func endOfNow() async -> Double { (try? await clocks().later) ?? Date().timeIntervalSince1970 }
}

extension RedisBoard {
    package func store(expecting id: StoreID?) throws(ReelFailure) -> StoreID? {
        let known = try transition("adopt", [id?.text ?? ""]).text()
        return known.isEmpty ? nil : StoreID(known)
    }

    package func ping() throws(ReelFailure) { try send(["PING"]) }

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

    package func memory() throws(ReelFailure) -> (used: Int64, limit: Int64?) {
        let facts = try info("memory")
        let limit = facts["maxmemory"].flatMap { Int64($0) } ?? 0
        return (facts["used_memory"].flatMap { Int64($0) } ?? 0, limit > 0 ? limit : nil)
    }

    package func diagnostics() throws(ReelFailure) -> [Diagnostic] {
        let facts = try info()
        var found: [Diagnostic] = []
        let version = facts["redis_version"] ?? ""
        if Int(version.prefix(while: \.isNumber)) ?? 0 < 7 {
            found.append(.redisTooOld(address: "\(address)", version: version))
        }
        if facts["aof_enabled"] != "1" { found.append(.redisWithoutLog(address: "\(address)")) }
        if facts["maxmemory_policy"] != "noeviction", facts["maxmemory"] != "0" {
            found.append(.redisEvicts(address: "\(address)"))
        }
        return found
    }

    /// What Redis says of itself, or of one part, by name.
    private func info(_ part: String? = nil) throws(ReelFailure) -> [Substring: String] {
        let lines = try send(["INFO"] + [part].compactMap(\.self)).text().split(whereSeparator: \.isNewline)
        return Dictionary(
            lines.compactMap { line in
                line.firstIndex(of: ":").map { (line[..<$0], String(line[line.index(after: $0)...])) }
            }, uniquingKeysWith: { first, _ in first })
    }
}
