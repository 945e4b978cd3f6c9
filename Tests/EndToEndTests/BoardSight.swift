import Foundation
import ReelTestSupport

/// A job as Redis holds it, read without reel's programs.
struct BoardSight {
    struct Holder: Equatable {
        var token: String
        var worker: String

        init(_ entry: String) {
            let words = entry.split(separator: " ", maxSplits: 4).map(String.init)
            (token, worker) = (words.first ?? "", words.last ?? "")
        }

        /// A worker's name is host, process, random part.
        var pid: pid_t? { worker.split(separator: "-").dropLast().last.flatMap { pid_t($0) } }
    }

    var state = ""
    var passes = 0
    var live: [Int: Holder] = [:]
    /// Holders of backup attempts, by pass.
    var copies: [Int: Holder] = [:]
    /// Finished passes and the assembly, with the token that recorded each.
    var done: [Int: String] = [:]
    /// How often an engine crashed, by pass.
    var crashes: [Int: Int] = [:]

    /// Workers that are excluded from it.
    var excluded: [String] = []

    static let prefix = "reel2:{main}:"

    /// Throws if Redis is not there or is still loading; an unknown job has an empty state.
    init(_ socket: String, job: String) throws {
        let redis = try RawRedis(socket: socket)
        let key = BoardSight.prefix + "job:" + job
        state = try redis("HGET", key, "state")
        passes = Int(try redis("HGET", key, "passes")) ?? 0
        live = try BoardSight.hash(redis, key + ":live").mapValues(Holder.init)
        copies = try BoardSight.hash(redis, key + ":copies").mapValues(Holder.init)
        done = try BoardSight.hash(redis, key + ":done").mapValues { String($0.prefix { $0 != " " }) }
        excluded = try redis("HKEYS", key + ":excluded").split(separator: "\n").map(String.init)
        crashes = try BoardSight.hash(redis, key + ":fails").mapValues { entry in
            struct Failures: Decodable { var attempts: [String: Int] }
            return try JSONDecoder().decode(Failures.self, from: Data(entry.utf8)).attempts["crash"] ?? 0
        }
    }

    /// Leases of all jobs.
    static func leases(_ socket: String) throws -> [String] {
        try RawRedis(socket: socket)("ZRANGE", prefix + "lease", "0", "-1").split(separator: "\n").map(String.init)
    }

    /// How often the feed says that a pass was recorded ("completed") or something else, by `job/index`.
    static func events(_ name: String, _ socket: String) throws -> [String: Int] {
        let feed = try RawRedis(socket: socket)("XRANGE", prefix + "events", "-", "+")
        var counts: [String: Int] = [:]
        let lines = feed.split(separator: "\n", omittingEmptySubsequences: false)
        for (place, line) in lines.enumerated() where line == name && lines[place - 1] == "event" {
            // Then come job and index, each after its name.
            counts["\(lines[place + 2])/\(lines[place + 4])", default: 0] += 1
        }
        return counts
    }

    private static func hash(_ redis: RawRedis, _ key: String) throws -> [Int: String] {
        let lines = try redis("HGETALL", key).split(separator: "\n").map(String.init)
        return Dictionary(
            stride(from: 0, to: lines.count - 1, by: 2).compactMap { place in
                Int(lines[place]).map { ($0, lines[place + 1]) }
            }, uniquingKeysWith: { first, _ in first })
    }
}
