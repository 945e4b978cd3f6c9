import Foundation
import Glibc
import ReelCore
import ReelQueue
import ReelTestSupport
import ReelWords
import Testing

/// The board of a Redis that three sentinels watch over: what it takes to go on when its master is gone.
@Suite struct SentinelTests {
    @Test(.timeLimit(.minutes(10)), arguments: [Trouble.killed, .frozen])
    func theBoardGoesOnWithTheNewMaster(_ trouble: Trouble) async throws {
        let farm = try await SentinelFarm()
        let board = RedisBoard(
            try RedisAddress(farm.url), name: "test", patience: RedisPatience(.seconds(120)))
        let other = RedisBoard(try RedisAddress(farm.url), name: "other", patience: RedisPatience(.seconds(120)))
        _ = try await board.put(BoardFixture.job(passes: 3))
        let id = JobID("a1")
        let first = try await other.status(id)
        #expect(first?.state == .running)
        try await farm.awaitReplica()
        var servers = [try farm.master()]
        // Back and forth: the replica takes over, then the first master, which has become its replica, does.
        for _ in 0..<2 {
            let master = try farm.master()
            let began = ContinuousClock.now
            switch trouble {
            case .killed: farm.kill(master)
            case .frozen: farm.freeze(master)
            }
            // One call waits for an answer that never comes, the other connection rests.
            #expect(try await board.status(id)?.state == .running)
            #expect(try await other.status(id)?.state == .running)
            #expect(ContinuousClock.now - began < .seconds(60))
            let next = try farm.master()
            #expect(next != master)
            servers.append(next)
            switch trouble {
            case .killed: try await farm.restart(master)
            case .frozen: farm.thaw(master)
            }
            try await farm.awaitReplica()
        }
        #expect(servers.count == 3 && servers[0] == servers[2])
        #expect(try await board.cancel(id))
        #expect(try await other.status(id)?.state == .cancelled)
    }

    enum Trouble: Sendable { case killed, frozen }

    @Test(.timeLimit(.minutes(10)))
    func whatSentinelsDoNotKnowIsNamed() async throws {
        let farm = try await SentinelFarm()
        let unknown = RedisBoard(try RedisAddress(farm.url + "x"), name: "test")
        let failure = try #require(await #expect(throws: ReelFailure.self) { try await unknown.ping() })
        #expect(failure.cause == .permanent && failure.exitCode == 4)
        for port in farm.sentinels { #expect(failure.words.contains("127.0.0.1:\(port) knows no master mainx")) }

        // One that is gone and one that is a server of something else do not keep the others from answering.
        let free = try SentinelFarm.freePort()
        let hosts = "127.0.0.1:\(free),127.0.0.1:\(try farm.master()),127.0.0.1:\(farm.sentinels[2])"
        try await RedisBoard(try RedisAddress("redis+sentinel://\(hosts)/main"), name: "test").ping()

        let gone = RedisBoard(try RedisAddress("redis+sentinel://127.0.0.1:\(free)/main"), name: "test")
        let refused = try #require(await #expect(throws: ReelFailure.self) { try await gone.ping() })
        #expect(refused.cause == .transient)
        #expect(refused.words.contains("no sentinel names the master: 127.0.0.1:\(free): Connection refused"))
    }
}

/// A master, a replica and three sentinels, each a real process at a port of its own.
private final class SentinelFarm: @unchecked Sendable {  // because each test has its own
    private let folder: String
    private var processes: [Int: Leashed] = [:]
    private let servers: [Int]
    let sentinels: [Int]

    var url: String { "redis+sentinel://" + sentinels.map { "127.0.0.1:\($0)" }.joined(separator: ",") + "/main" }

    init() async throws {
        folder = NSTemporaryDirectory() + "reel-sentinels-\(UUID().uuidString)"
        servers = [try SentinelFarm.freePort(), try SentinelFarm.freePort()]
        sentinels = try (0..<3).map { _ in try SentinelFarm.freePort() }
        for port in servers + sentinels {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(port)", withIntermediateDirectories: true)
        }
        for port in servers { try await start(port, replicaOf: port == servers[0] ? nil : servers[0]) }
        for port in sentinels {
            let settings = """
                port \(port)
                bind 127.0.0.1
                dir \(folder)/\(port)
                sentinel monitor main 127.0.0.1 \(servers[0]) 2
                sentinel down-after-milliseconds main 1000
                sentinel failover-timeout main 4000
                """
            let path = "\(folder)/\(port)/sentinel.conf"
            try settings.write(toFile: path, atomically: false, encoding: .utf8)
            processes[port] = try Leashed(["redis-server", path, "--sentinel"])
        }
        // A failover needs sentinels and a replica that know each other.
        let knowing = { [self] in
            try sentinels.allSatisfy { port in
                let facts = try ask(port, ["SENTINEL", "MASTER", "main"]).split(separator: "\n")
                func fact(_ name: String) -> Substring? {
                    facts.firstIndex(of: Substring(name)).map { facts[$0 + 1] }
                }
                return fact("num-other-sentinels") == "2" && fact("num-slaves") == "1" && fact("flags") == "master"
            }
        }
        try await SentinelFarm.until(knowing)
    }

    deinit {
        processes = [:]
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func start(_ port: Int, replicaOf master: Int?) async throws {
        let replica = master.map { ["--replicaof", "127.0.0.1", "\($0)"] } ?? []
        processes[port] = try Leashed(
            ["redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--dir", "\(folder)/\(port)"]
                + ["--repl-diskless-sync-delay", "0", "--repl-timeout", "10"] + replica)
        try await SentinelFarm.until { try self.ask(port, ["PING"]) == "PONG" }
    }

    /// The port of the master, as the sentinels say.
    func master() throws -> Int {
        let answer = try ask(sentinels[0], ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"]).split(separator: "\n")
        return try #require(answer.last.flatMap { Int($0) })
    }

    /// Waits until the other server has what the master has.
    func awaitReplica() async throws {
        let master = try master()
        try await SentinelFarm.until {
            let facts = try self.ask(master, ["INFO", "replication"])
            guard facts.contains("role:master"), facts.contains("state=online") else { return false }
            return try self.ask(master, ["WAIT", "1", "1000"]) == "1"
        }
        // And until the sentinels would choose it.
        try await SentinelFarm.until {
            try self.sentinels.allSatisfy { port in
                let replicas = try self.ask(port, ["SENTINEL", "REPLICAS", "main"])
                return replicas.contains("\nflags\nslave\n") && replicas.contains("\nmaster-link-status\nok\n")
            }
        }
    }

    func kill(_ port: Int) { processes[port] = nil }
    func freeze(_ port: Int) { processes[port].map { _ = Glibc.kill($0.pid, SIGSTOP) } }
    func thaw(_ port: Int) { processes[port].map { _ = Glibc.kill($0.pid, SIGCONT) } }

    /// It begins as what it was; the sentinels make it a replica.
    func restart(_ port: Int) async throws { try await start(port, replicaOf: nil) }

    private func ask(_ port: Int, _ command: [String]) throws -> String {
        let (client, output) = (Process(), Pipe())
        client.executableURL = URL(fileURLWithPath: "/usr/bin/redis-cli")
        client.arguments = ["-p", "\(port)"] + command
        (client.standardOutput, client.standardError) = (output, FileHandle.nullDevice)
        try client.run()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        client.waitUntilExit()
        return String(decoding: said, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func until(_ condition: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while try !condition() {
            try #require(ContinuousClock.now < deadline)
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// A port that nobody uses now. The kernel gives it to no connection, not even while its server is down: then a
    /// connection that is tried again and again could otherwise end up at itself.
    static func freePort() throws -> Int {
        for _ in 0..<100 {
            let port = UInt16.random(in: 20_000..<32_000)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
            let isFree = withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isFree { return Int(port) }
        }
        throw NoPort()
    }

    private struct NoPort: Error {}
}

/// A process that a shell kills when this is released, or when the tests end, however they end.
private final class Leashed {
    private let leash = Pipe()
    let pid: pid_t

    init(_ command: [String]) throws {
        let (shell, output) = (Process(), Pipe())
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments =
            [
                "-c", "\"$@\" </dev/null >/dev/null 2>&1 & echo $!; exec >&-; read -r end; kill -9 $!", "sh",
            ] + command
        (shell.standardInput, shell.standardOutput) = (leash, output)
        try shell.run()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        pid = try #require(pid_t(said.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    deinit {
        try? leash.fileHandleForWriting.close()
        // It is gone when its number is.
        while kill(pid, 0) == 0 { usleep(1000) }
    }
}
