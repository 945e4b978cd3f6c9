import Foundation
import Glibc

/// A private redis-server on a socket in a folder of its own, with an append-only file. A shell watches over it: when
/// the tests' end of its pipe closes, however they end, it kills the server and removes the folder.
final class RedisServer: @unchecked Sendable {  // because the suite that uses it is serialized
    /// When the append-only file is written through to the disk.
    enum Sync: String {
        case everysec, always
    }

    let folder: String
    private let sync: Sync
    private let hasUsers: Bool
    /// Held open as long as the server shall live.
    private var leash: Pipe?

    var socket: String { "\(folder)/redis.sock" }
    var url: String { "unix://\(socket)" }

    struct Trouble: Error {
        var message: String
    }

    /// - Parameter users: the content of an ACL file, nil where everybody may do everything.
    init(sync: Sync = .everysec, users: String? = nil) throws {
        self.sync = sync
        hasUsers = users != nil
        var template = Array((NSTemporaryDirectory() + "reel-queue-XXXXXX").utf8CString)
        guard let name = mkdtemp(&template) else { throw Trouble(message: "no temporary folder") }
        folder = String(cString: name)
        try users?.write(toFile: "\(folder)/users.acl", atomically: true, encoding: .utf8)
        try start()
    }

    /// Starts the server and waits until it answers.
    func start() throws {
        let (leash, shell) = (Pipe(), Process())
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = [
            "-c",
            """
            redis-server --port 0 --unixsocket "$1/redis.sock" --dir "$1" --save "" --appendonly yes \
              --appendfsync "$2" --logfile "$1/log" $3 </dev/null >/dev/null & server=$!
            read -r end; kill -9 $server; [ "$end" ] || rm -rf "$1"
            """, "sh", folder, sync.rawValue, hasUsers ? "--aclfile \(folder)/users.acl" : "",
        ]
        shell.standardInput = leash
        (shell.standardOutput, shell.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try shell.run()
        self.leash = leash
        let deadline = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < deadline {
            if try answers() { return }
            usleep(5000)
        }
        throw Trouble(message: "redis-server does not answer, see \(folder)/log")
    }

    /// Whether it takes commands, be it only from those who say who they are.
    private func answers() throws -> Bool {
        guard let client = try? RawRedis(socket: socket) else { return false }
        do { return try client("PING") == "PONG" } catch let trouble as RawRedis.Trouble {
            return trouble.message.hasPrefix("NOAUTH")
        }
    }

    /// Waits until it has run for a second, below which nothing is reaped.
    func waitUntilReapable(asking client: RawRedis? = nil) throws {
        let client = try client ?? RawRedis(socket: socket)
        while try client("INFO", "server").contains("uptime_in_seconds:0\r") { usleep(20_000) }
    }

    /// Kills the server; its files stay.
    func kill() {
        try? leash?.fileHandleForWriting.write(contentsOf: Data("kill\n".utf8))
        leash = nil
        // It is gone when its socket refuses.
        while (try? RawRedis(socket: socket)) != nil { usleep(1000) }
    }

    /// The length in bytes of the append-only file's part that is written now.
    func logLength() throws -> Int { try currentLog().count }

    /// The write commands that the append-only file holds, without the marks of transactions and databases; of its part
    /// that is written now, and of that only what comes after so many bytes.
    func log(after start: Int = 0) throws -> [[String]] {
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
        return commands.filter { !["MULTI", "EXEC", "SELECT"].contains($0[0].uppercased()) }
    }

    private func currentLog() throws -> Data {
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/appendonlydir")
        // appendonly.aof.NUMBER.incr.aof: rewriting begins a new one.
        let newest = names.filter { $0.hasSuffix(".incr.aof") }.max { number(of: $0) < number(of: $1) }
        return try Data(contentsOf: URL(fileURLWithPath: "\(folder)/appendonlydir/\(newest ?? "")"))
    }

    private func number(of name: String) -> Int { name.split(separator: ".").compactMap { Int($0) }.last ?? 0 }
}
