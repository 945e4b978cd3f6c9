import Foundation
import Glibc
import ReelCore
import ReelTestSupport
import Testing

/// A worker as `workers --json` shows it.
struct WorkerJSON: Decodable {
    var id: String
    var host: String
    var slotsOut: Int
    var notes: [String]
    var sandbox: SandboxState?
    var sourceRoots: [String]?
    var gone: Bool
    var drained: String?
}

/// A farm to be disturbed: a Redis set up as deploy/ says, workers of one slot that share a store, and
/// submitting coordinators.
actor Fleet {
    let fixture: ProcessFixture
    private(set) var redis: Child?
    /// Workers that were started and not killed, including stopped ones.
    private(set) var workers: [Child] = []
    private var redisSickness: Sickness?
    /// The output of killed workers.
    private var lastWords: [Outcome] = []

    init(_ fixture: ProcessFixture) throws {
        self.fixture = fixture
        for folder in ["redis", "store", "scratch"] {
            try FileManager.default.createDirectory(atPath: fixture.path(folder), withIntermediateDirectories: true)
        }
    }

    /// The users of `deploy/`, and one for tests that read Redis without the board.
    private func writeUsers() throws {
        var users = try String(contentsOfFile: Fleet.deploy.path + "/redis-users.acl", encoding: .utf8)
        for user in ["worker", "coordinator", "admin"] {
            users = users.replacingOccurrences(of: "#\(user.uppercased())_SHA256", with: ">reel-" + user)
        }
        users += "user admin on >admin ~* &* +@all\n"
        try users.write(toFile: fixture.path("redis/users.acl"), atomically: true, encoding: .utf8)
    }

    nonisolated var socket: String { fixture.path("redis/sock") }
    nonisolated var store: String { fixture.path("store") }

    /// The address for one of the users of `deploy/redis-users.acl`; the password of each is its name.
    nonisolated func address(as user: String) -> String { "unix://\(user):\(user)@\(socket)" }

    nonisolated func environment(as user: String) -> [String: String] {
        ["REEL_REDIS": address(as: user), "REEL_STORE": store]
    }

    /// Runs `body` with a Redis and as many workers as asked for; afterwards nothing of them runs any more.
    static func with(_ fixture: ProcessFixture, workers count: Int, _ body: (Fleet) async throws -> Void) async throws {
        let fleet = try Fleet(fixture)
        do {
            try await fleet.writeUsers()
            try await fleet.startRedis()
            try #require(try await eventually { (try? RawRedis(socket: fleet.socket)("PING")) == "PONG" })
            let prepared = try await fixture.run(
                .coordinator, ["init", "--redis", fleet.address(as: "reel-admin"), "--store", fleet.store])
            try #require(prepared.code == 0, "\(prepared.error)")
            for _ in 0..<count { try await fleet.startWorker() }
            try await body(fleet)
        } catch {
            try await fleet.killAll()
            throw error
        }
        try await fleet.killAll()
    }

    private func killAll() async throws {
        for worker in workers { try await kill(worker) }
        try await killRedis()
        // Coordinators, and engines that a test has stopped: those do not see that their worker has ended.
        while fixture.kill("") { usleep(1000) }
    }

    // MARK: Redis

    static let deploy = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../deploy").standardized

    /// Lets Redis run on a machine whose clock may be wrong, from its next start on.
    func setRedisSickness(_ sickness: Sickness) { redisSickness = sickness }

    /// Starts Redis in the folder of its log, and returns at once: programs that need it wait for it.
    func startRedis(_ settings: String..., repairing: Bool = true) async throws {
        // As deploy/redis-reel.service.conf does: the end of a torn log is cut off where a transaction began.
        let manifest = fixture.path("redis/reel-appendonly/appendonly.aof.manifest")
        if repairing, FileManager.default.fileExists(atPath: manifest) {
            let command = "yes | redis-check-aof --fix \"$0\" >/dev/null"
            _ = try await fixture.run(.at("/bin/sh"), ["-c", command, manifest])
        }
        redis = try await fixture.start(
            .redis,
            [
                Fleet.deploy.path + "/redis.conf", "--aclfile", fixture.path("redis/users.acl"), "--port", "0",
                "--unixsocket", socket, "--dir", fixture.path("redis"), "--loglevel", "warning",
            ] + settings, environment: redisSickness?.environment ?? [:])
    }

    /// Starts Redis again if it has ended by itself, as a service manager does, and returns whether it had. A Redis that was
    /// killed while it rewrote its log, after a kill that tore the log, cuts the log's end off, refuses to start, and starts
    /// the next time.
    func keepRedis() async throws -> Bool {
        guard let redis, !redis.isRunning else { return false }
        _ = try await redis.outcome
        try await startRedis()
        return true
    }

    func killRedis() async throws {
        _ = try await redis?.kill()
        redis = nil
    }

    /// Cuts the end off the newest append-only file, as a crash of the machine would; returns how many bytes.
    nonisolated func cutLog(by count: Int) throws -> Int {
        guard let log = try newestLog() else { return 0 }
        let size = try Data(contentsOf: log).count
        return try cut(log, to: max(size - count, 0))
    }

    /// Cuts the newest append-only file within one of the last commands that name a key, counted from the last.
    nonisolated func cutLog(beforeLast count: Int, of key: String) throws -> Int {
        guard let log = try newestLog() else { return 0 }
        var place = try Data(contentsOf: log)
        for _ in 0..<count {
            guard let found = place.range(of: Data(key.utf8), options: .backwards) else { return 0 }
            place = place[..<found.lowerBound]
        }
        return try cut(log, to: place.count)
    }

    /// How often the newest append-only file names a key.
    nonisolated func mentions(of key: String) throws -> Int {
        guard let log = try newestLog() else { return 0 }
        return try Data(contentsOf: log).ranges(of: Data(key.utf8)).count
    }

    /// The append-only file that is written now.
    nonisolated func newestLog() throws -> URL? {
        let folder = fixture.path("redis/reel-appendonly")
        let logs = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".incr.aof") }
        func number(_ name: String) -> Int { Int(name.split(separator: ".").dropLast(2).last ?? "") ?? 0 }
        return logs.max { number($0) < number($1) }.map { URL(fileURLWithPath: "\(folder)/\($0)") }
    }

    private nonisolated func cut(_ log: URL, to size: Int) throws -> Int {
        let file = try FileHandle(forUpdating: log)
        defer { try? file.close() }
        let before = Int(try file.seekToEnd())
        try file.truncate(atOffset: UInt64(size))
        return before - size
    }

    // MARK: Workers

    @discardableResult
    func startWorker(
        _ program: Program = .worker, sickness: Sickness? = nil, arguments: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> Child {
        let worker = try await fixture.start(
            program, ["--slots", "1", "--grace", "5", "--scratch", fixture.path("scratch")] + arguments,
            environment: self.environment(as: "reel-worker").merging(sickness?.environment ?? [:]) { $1 }
                .merging(environment) { $1 })
        workers.append(worker)
        return worker
    }

    /// Starts a worker for which the store is a mount of its own, so that `remount` concerns it alone. Needs root.
    @discardableResult
    func startWorkerApart(sickness: Sickness? = nil) async throws -> Child {
        let apart = fixture.path("apart")
        if !FileManager.default.fileExists(atPath: apart) {
            let (mount, worker) = ("mount --bind \(store) \(store)", Program.folder + "/reel-worker")
            let command = "exec unshare -m sh -c '\(mount) && exec \(worker) \"$@\"' sh \"$@\""
            try "#!/bin/sh\n\(command)\n".write(toFile: apart, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: apart)
        }
        return try await startWorker(.at(apart), sickness: sickness)
    }

    /// Makes the store read-only ("ro") or writable ("rw") for a worker that was started apart, and for its engines.
    nonisolated func remount(_ mode: String, of worker: Child) async throws {
        let arguments = ["-t", "\(worker.pid)", "-m", "mount", "-o", "remount,\(mode),bind", store]
        let ended = try await eventually {
            let outcome = try await fixture.run(.at("/usr/bin/nsenter"), arguments)
            // The system refuses while a file of the store is open for writing.
            if outcome.error.contains("busy") { return false }
            // The worker may have been killed meanwhile.
            try #require(outcome.code == 0 || !worker.isRunning, "\(outcome.error)")
            return true
        }
        try #require(ended)
    }

    func kill(_ worker: Child) async throws {
        workers.removeAll { $0 === worker }
        lastWords.append(try await worker.kill())
    }

    /// Ends all workers as a service manager would; returns their outcomes, the killed ones first.
    func endWorkers() async throws -> [Outcome] {
        for worker in workers { lastWords.append(try await worker.end()) }
        workers = []
        return lastWords
    }

    // MARK: Coordinators

    nonisolated func coordinator(_ arguments: [String]) async throws -> Outcome {
        try await fixture.run(.coordinator, arguments, environment: environment(as: "reel-coordinator"))
    }

    /// Runs a script of bash as somebody who calls reel's programs.
    nonisolated func shell(
        _ script: String, _ arguments: [String] = [], as user: String = "reel-coordinator"
    ) async throws -> Outcome {
        try await fixture.run(
            .at("/bin/bash"), ["-c", "PATH=$0:$PATH; " + script, Program.folder] + arguments,
            environment: environment(as: user))
    }

    nonisolated func startCoordinator(_ arguments: [String], _ program: Program = .coordinator) async throws -> Child {
        try await fixture.start(program, arguments, environment: environment(as: "reel-coordinator"))
    }

    /// Submits a job and returns its id.
    nonisolated func submit(_ arguments: [String]) async throws -> String {
        let outcome = try await coordinator(["submit"] + arguments)
        try #require(outcome.code == 0, "\(outcome.error)")
        return outcome.output.trimmingCharacters(in: .newlines)
    }

    /// The job as `status --json` prints it.
    nonisolated func job(_ id: String) async throws -> JobJSON {
        let outcome = try await coordinator(["status", id, "--json"])
        try #require(outcome.code == 0, "\(outcome.error)")
        return try JSONDecoder().decode(JobJSON.self, from: Data(outcome.output.utf8))
    }

    /// The workers as `workers --json` prints them.
    nonisolated func listedWorkers() async throws -> [WorkerJSON] {
        let outcome = try await coordinator(["workers", "--json"])
        try #require(outcome.code == 0, "\(outcome.error)")
        return try JSONDecoder().decode([WorkerJSON].self, from: Data(outcome.output.utf8))
    }

    nonisolated func sight(_ id: String) throws -> BoardSight { try BoardSight(socket, job: id) }

    // MARK: The store

    nonisolated func folder(_ id: String) -> String { "\(store)/jobs/\(id)" }

    /// A job's record as it is stored; nil if it cannot be read.
    nonisolated func record(of id: String) -> [String: Any]? {
        let bytes = FileManager.default.contents(atPath: folder(id) + "/job.json")
        return bytes.flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any]
    }

    nonisolated func names(_ id: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder(id))) ?? []
    }

    nonisolated func segments(_ id: String) -> [String] { names(id + "/segments") }

    /// Folders of jobs that the store has.
    nonisolated var jobs: Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: store + "/jobs")) ?? [])
    }

    /// Files in the scratch folder, and in the store except the ones that stay with a finished job.
    nonisolated var leftovers: [String] {
        let files = FileManager.default
        let parts = "job.json|plan.[0-9]+.json|output.mov|attempts(/[0-9]+.[0-9a-f]+.log)?"
        let kept = try? Regex("jobs/[0-9a-f]+(/(\(parts)))?|sources/[0-9a-f]{16}(/index.v[0-9]+.[0-9a-f]{64})?")
        let stored = (files.enumerator(atPath: store)?.allObjects as? [String] ?? []).filter { name in
            guard let kept, !["jobs", "sources", "store.json"].contains(name) else { return false }
            return (try? kept.wholeMatch(in: name)) == nil
        }
        let spilled = (try? files.contentsOfDirectory(atPath: fixture.path("scratch"))) ?? []
        return stored.sorted() + spilled.map { "scratch/\($0)" }
    }
}

/// A stopped engine, and the pass that it was working on.
struct Held: Sendable {
    var worker: Child
    var engine: pid_t
    var index: Int
    var token: String
}

extension Fleet {
    /// Stops an engine during a pass of video, though not the first that is given out: the engine of a pass or worker, if
    /// one is named. Its earlier results are on the board by then.
    func hold(_ id: String, index: Int? = nil, of slow: Child? = nil) async throws -> Held {
        let deadline = ContinuousClock.now + .seconds(180)
        while ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
            let live = try sight(id).live.filter { slow == nil || $0.value.pid == slow?.pid }
            guard let (place, holder) = live.first(where: { $0.key == index ?? max($0.key, 1) }),
                let worker = workers.first(where: { $0.pid == holder.pid }),
                let engine = worker.children("reel-engine").first
            else { continue }
            Glibc.kill(engine, SIGSTOP)
            let held = Held(worker: worker, engine: engine, index: place, token: holder.token)
            // A segment under way is there as a part; otherwise the engine was not at it yet, or not any more.
            let isAtWork = segments(id).contains { $0.hasSuffix(".\(holder.token).nut.part") }
            if isAtWork, try sight(id).live[place] == holder { return held }
            Glibc.kill(engine, SIGCONT)
        }
        throw Running.Ended()
    }
}
