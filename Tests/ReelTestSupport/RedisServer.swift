internal import Foundation
internal import Glibc

/// A private redis-server on a socket in a folder of its own, with the configuration and the users of `deploy/`. A shell
/// watches over it: when the tests' end of its pipe closes, however they end, it kills the server and removes the folder.
package final class RedisServer: @unchecked Sendable {  // because suites that kill and restart it are serialized
    /// When the append-only file is written through to the disk.
    package enum Sync: String, Sendable {
        case everysec, always
    }

    /// Path of its folder.
    package let folder: String
    private let sync: Sync
    /// Held open as long as the server shall live.
    private var leash: Pipe?

    /// Path of its socket.
    package var socket: String { "\(folder)/redis.sock" }
    /// As a user that may do everything: one board does in tests what several programs do.
    package var url: String { "unix://admin:admin@\(socket)" }

    /// Why it cannot be started.
    package struct Trouble: Error {
        /// The server's last words, or the command that is missing.
        package var message: String
    }

    /// The users of `deploy/redis-users.acl`, with signs in a password that have a meaning in an address.
    package static let passwords = [
        "reel-worker": "w0rk@er/:%", "reel-coordinator": "c00rdinator", "reel-admin": "adm1n",
    ]

    private static let deploy = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../deploy").standardized

    /// Starts a server with an empty folder.
    package init(sync: Sync = .everysec) throws {
        self.sync = sync
        var template = Array((NSTemporaryDirectory() + "reel-redis-XXXXXX").utf8CString)
        guard let name = mkdtemp(&template) else { throw Trouble(message: "no temporary folder") }
        folder = String(cString: name)
        let file = RedisServer.deploy.appendingPathComponent("redis-users.acl")
        var users = try String(contentsOf: file, encoding: .utf8)
        for (user, password) in RedisServer.passwords {
            let place = "#\(user.dropFirst("reel-".count).uppercased())_SHA256"
            guard users.contains(place) else { throw Trouble(message: "no \(place) in redis-users.acl") }
            users = users.replacingOccurrences(of: place, with: ">\(password)")
        }
        users += "user admin on >admin ~* &* +@all\n"
        try users.write(toFile: "\(folder)/users.acl", atomically: true, encoding: .utf8)
        try start()
    }

    /// Starts the server and waits until it answers.
    package func start() throws {
        let (leash, shell) = (Pipe(), Process())
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = [
            "-c",
            """
            redis-server "$3/redis.conf" --port 0 --unixsocket "$1/redis.sock" --dir "$1" --aclfile "$1/users.acl" \
              --appendfsync "$2" --logfile "$1/log" </dev/null >/dev/null & server=$!
            read -r end; kill -9 $server; [ "$end" ] || rm -rf "$1"
            """, "sh", folder, sync.rawValue, RedisServer.deploy.path,
        ]
        shell.standardInput = leash
        (shell.standardOutput, shell.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try shell.run()
        self.leash = leash
        let deadline = ContinuousClock.now + .seconds(180)
        while ContinuousClock.now < deadline {
            if answers() { return }
            usleep(5000)
        }
        throw Trouble(message: "redis-server does not answer, see \(folder)/log")
    }

    private func answers() -> Bool { (try? RawRedis(socket: socket)("PING")) == "PONG" }

    /// Kills the server; its files stay, with all that it has answered.
    package func kill() {
        // While the disk is busy, Redis answers before it writes its log.
        while let info = try? RawRedis(socket: socket)("INFO", "persistence"), info.contains("aof_buffer_length:"),
            !info.contains("aof_buffer_length:0\r")
        { usleep(1000) }
        try? leash?.fileHandleForWriting.write(contentsOf: Data("kill\n".utf8))
        leash = nil
        // It is gone when its socket refuses.
        while (try? RawRedis(socket: socket)) != nil { usleep(1000) }
    }

    /// The length in bytes of the append-only file's part that is written now.
    package func logLength() throws -> Int { try currentLog().count }

    /// The write commands that the append-only file holds, without functions and marks of transactions and databases; of its part
    /// that is written now, and of that only what comes after this many bytes.
    package func log(after start: Int = 0) throws -> [[String]] {
        let bytes = [UInt8](try currentLog())
        var place = start
        func number() -> Int {
            let start = place + 1
            while bytes[place] != 13 { place += 1 }
            defer { place += 2 }
            return Int(String(decoding: bytes[start..<place], as: UTF8.self)) ?? 0
        }
        var commands: [[String]] = []
        while place < bytes.count {
            let command = (0..<number()).map { _ in
                let length = number()
                defer { place += length + 2 }
                return String(decoding: bytes[place..<place + length], as: UTF8.self)
            }
            commands.append(command)
        }
        return commands.filter { !["MULTI", "EXEC", "SELECT", "FUNCTION"].contains($0[0].uppercased()) }
    }

    /// Waits until all that was changed is in the append-only file: while the disk is busy, Redis keeps it back.
    package func awaitLog() throws {
        let redis = try RawRedis(socket: socket)
        while try !redis("INFO", "persistence").contains("aof_buffer_length:0\r") { usleep(1000) }
    }

    private func currentLog() throws -> Data {
        try awaitLog()
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/reel-appendonly")
        // appendonly.aof.NUMBER.incr.aof: rewriting begins a new one.
        let newest = names.filter { $0.hasSuffix(".incr.aof") }.max { number(of: $0) < number(of: $1) }
        return try Data(contentsOf: URL(fileURLWithPath: "\(folder)/reel-appendonly/\(newest ?? "")"))
    }

    /// What the server says of itself.
    package func serverLog() throws -> String { try String(contentsOfFile: "\(folder)/log", encoding: .utf8) }

    private func number(of name: String) -> Int { name.split(separator: ".").compactMap { Int($0) }.last ?? 0 }
}
