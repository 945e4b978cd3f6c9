internal import Foundation
internal import ReelCore
internal import ReelQueue
internal import ReelStore

/// A Redis, a store and workers of the suite's own, where `run` would clear away what is to be looked at.
struct PrivateBoard: Sendable {
    let workshop: Workshop
    private let folder: String

    /// Starts a Redis, on one core where it is given, and ends it with what was started meanwhile.
    static func with<Result>(
        _ workshop: Workshop, core: Int? = nil, _ body: (PrivateBoard) async throws -> Result
    ) async throws -> Result {
        let board = PrivateBoard(workshop: workshop, folder: workshop.work("board"))
        workshop.remove(board.folder)
        try FileManager.default.createDirectory(atPath: board.folder + "/store", withIntermediateDirectories: true)
        defer { workshop.remove(board.folder) }
        let redis = try Companion(
            [
                "redis-server", "--port", "0", "--unixsocket", board.socket, "--dir", board.folder, "--save", "",
                "--tcp-backlog", "4096", "--maxmemory-policy", "noeviction",
            ] + (core.map { ["--server_cpulist", "\($0)"] } ?? []))
        defer { redis.end() }
        let deadline = ContinuousClock.now + .seconds(10)
        while (try? await board.board().ping()) == nil {
            guard ContinuousClock.now < deadline else { throw Trouble("redis-server does not start") }
            try await Task.sleep(for: .milliseconds(20))
        }
        return try await body(board)
    }

    /// Starts a worker, and ends it after the body.
    func withWorker<Result>(slots: Int, _ body: () async throws -> Result) async throws -> Result {
        let worker = try Companion(
            [workshop.programs + "/reel-worker", "--slots", "\(slots)", "--grace", "0"] + place)
        defer { worker.end() }
        let board = try board()
        while try await board.workers().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        return try await body()
    }

    // A socket's path must be short.
    private var socket: String { NSTemporaryDirectory() + "/reel-bench-\(getpid()).sock" }
    var url: String { "unix://\(socket)" }
    var place: [String] { ["--redis", url, "--store", folder + "/store"] }

    func board() throws -> RedisBoard { RedisBoard(try RedisAddress(url), name: "reel-bench") }

    func submission(_ source: String, _ options: [String]) -> [String] {
        [workshop.coordinator, "submit", source] + options + place
    }

    /// The folder of a job that was submitted.
    func job(_ id: String) throws -> JobFolder { try Store(root: folder + "/store").job(JobID(id)) }

    /// Submits, waits, and keeps the segments; the job's id.
    func finish(_ source: String, _ options: [String], slots: Int) async throws -> String {
        try await withWorker(slots: slots) {
            let output = workshop.work("submitted") + (options.contains("copy") ? ".mov" : ".mp4")
            defer { workshop.remove(output) }
            let said = try await workshop.text(
                submission(source, ["--wait", "--overwrite", "--keep-segments", "-o", output] + options))
            guard let id = said.split(separator: "\n").first else { throw Trouble("submit printed no job") }
            return String(id)
        }
    }
}
