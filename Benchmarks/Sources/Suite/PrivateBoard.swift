internal import Foundation
internal import ReelCore
internal import ReelQueue
internal import ReelStore

/// A Redis, a store and workers of the suite's own, since `run` would remove the files that the suite inspects.
struct PrivateBoard: Sendable {
    let runner: SuiteRunner
    private let folder: String
    private let store: String
    /// What workers and submissions are started by, so that they keep to some cores; empty for all.
    private let pinned: [String]

    /// Starts a Redis, on one core if a core is given, and ends it after the body. The store is a folder, or a prefix in a
    /// bucket. Workers and submissions run on the first `cores` cores only, if a number is given.
    static func with<Result>(
        _ runner: SuiteRunner, core: Int? = nil, bucket: String? = nil, cores: Int? = nil,
        _ body: (PrivateBoard) async throws -> Result
    ) async throws -> Result {
        let folder = runner.work("board")
        let board = PrivateBoard(
            runner: runner, folder: folder, store: bucket ?? folder + "/store",
            pinned: cores.map { ["taskset", "-c", "0-\($0 - 1)"] } ?? [])
        runner.remove(board.folder)
        try FileManager.default.createDirectory(atPath: board.folder, withIntermediateDirectories: true)
        defer { runner.remove(board.folder) }
        let redis = try BackgroundProcess(
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
        _ = try await runner.text([runner.coordinator, "init"] + board.place)
        return try await body(board)
    }

    /// Starts a worker, and ends it after the body.
    func withWorker<Result>(slots: Int, _ body: () async throws -> Result) async throws -> Result {
        let worker = try BackgroundProcess(
            pinned + [runner.programs + "/reel-worker", "--slots", "\(slots)", "--grace", "0"] + place)
        defer { worker.end() }
        let board = try board()
        while try await board.workers().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        return try await body()
    }

    // A socket's path must be short.
    private var socket: String { NSTemporaryDirectory() + "/reel-bench-\(getpid()).sock" }
    var url: String { "unix://\(socket)" }
    var place: [String] { ["--redis", url, "--store", store] }

    func board() throws -> RedisBoard { RedisBoard(try RedisAddress(url), name: "reel-bench") }

    func submission(_ source: String, _ options: [String]) -> [String] {
        pinned + [runner.coordinator, "submit", source] + options + place
    }

    /// The folder of a job that was submitted.
    func job(_ id: String) throws -> JobFolder { try FolderStore(root: store).job(JobID(id)) }

    /// Submits, waits, and keeps the segments; the job's id.
    func finish(_ source: String, _ options: [String], slots: Int) async throws -> String {
        try await withWorker(slots: slots) {
            let output = runner.work("submitted") + (options.contains("copy") ? ".mov" : ".mp4")
            defer { runner.remove(output) }
            let said = try await runner.text(
                submission(source, ["--wait", "--overwrite", "--keep-segments", "-o", output] + options))
            guard let id = said.split(separator: "\n").first else { throw Trouble("submit printed no job") }
            return String(id)
        }
    }
}
