internal import Foundation
internal import Glibc
internal import Testing

/// A master, a replica and three sentinels, each a real process at a port of its own.
package final class SentinelFarm: @unchecked Sendable {  // because each test has its own
    private let folder: String
    private var processes: [Int: Leashed] = [:]
    private let servers: [Int]
    /// Ports of the sentinels.
    package let sentinels: [Int]

    /// The address of the master, as reel takes it.
    package var url: String { url(of: sentinels) }

    /// The address with the sentinels at these ports.
    package func url(of ports: [Int]) -> String {
        "redis+sentinel://:\(SentinelFarm.password)@" + ports.map { "127.0.0.1:\($0)" }.joined(separator: ",") + "/main"
    }

    /// Of the servers, for everybody but the sentinels, which have a user of their own there.
    private static let password = "secret"

    /// Starts them, and waits until they know each other.
    package init() async throws {
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
                sentinel auth-user main sentinel
                sentinel auth-pass main watch
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
                + ["--repl-diskless-sync-delay", "0", "--repl-timeout", "10"]
                + ["--requirepass", SentinelFarm.password, "--masterauth", SentinelFarm.password]
                + ["--user", "sentinel", "on", ">watch", "~*", "&*", "+@all"] + replica)
        try await SentinelFarm.until { try self.ask(port, ["PING"]) == "PONG" }
    }

    /// The port of the master, as the last of the sentinels says.
    package func master() throws -> Int {
        let answer = try ask(sentinels[2], ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"]).split(separator: "\n")
        return try #require(answer.last.flatMap { Int($0) })
    }

    /// Waits until the last of the sentinels names another master than this, and returns that one's port.
    package func master(after old: Int) async throws -> Int {
        try await SentinelFarm.until { try self.master() != old }
        return try master()
    }

    /// Waits until the other server has what the master has.
    package func awaitReplica() async throws {
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

    /// Kills a server.
    package func kill(_ port: Int) { processes[port] = nil }
    /// Stops a server or a sentinel: its connections stay, and it answers nothing.
    package func freeze(_ port: Int) { processes[port].map { _ = Glibc.kill($0.pid, SIGSTOP) } }
    /// Lets a frozen server or sentinel go on.
    package func thaw(_ port: Int) { processes[port].map { _ = Glibc.kill($0.pid, SIGCONT) } }

    /// Cuts a server off from the sentinels, so that they call it down, while everybody else goes on with it.
    package func cutOff(_ port: Int) throws {
        _ = try ask(port, ["ACL", "SETUSER", "sentinel", "off"])
        _ = try ask(port, ["CLIENT", "KILL", "USER", "sentinel"])
    }
    /// Lets the sentinels reach it again: they make it a replica.
    package func rejoin(_ port: Int) throws { _ = try ask(port, ["ACL", "SETUSER", "sentinel", "on"]) }

    /// It begins as what it was; the sentinels make it a replica.
    package func restart(_ port: Int) async throws { try await start(port, replicaOf: nil) }

    private func ask(_ port: Int, _ command: [String]) throws -> String {
        let (client, output) = (Process(), Pipe())
        client.executableURL = URL(fileURLWithPath: "/usr/bin/redis-cli")
        let login = servers.contains(port) ? ["-a", SentinelFarm.password] : []
        client.arguments = ["-p", "\(port)"] + login + command
        (client.standardOutput, client.standardError) = (output, FileHandle.nullDevice)
        try client.run()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        client.waitUntilExit()
        return String(decoding: said, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Waits for a condition. The limit only tells a hang: sentinels on a machine that stalls do nothing for 30 s each time
    /// (TILT).
    private static func until(_ condition: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while try !condition() {
            try #require(ContinuousClock.now < deadline)
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// A port that nobody uses now. The kernel gives it to no connection, not even while its server is down: then a
    /// connection that is tried again and again could otherwise end up at itself.
    package static func freePort() throws -> Int {
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
