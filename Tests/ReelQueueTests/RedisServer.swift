import Foundation
import Glibc

/// A private redis-server on a socket in a folder of its own, with an append-only file. A shell watches over it: when
/// the tests' end of its pipe closes, however they end, it kills the server and removes the folder.
final class RedisServer: @unchecked Sendable {  // because the suite that uses it is serialized
    let folder: String
    private var process: pid_t = 0
    /// Held open as long as the server shall live.
    private var leashes: [Pipe] = []

    var socket: String { "\(folder)/redis.sock" }
    var url: String { "unix://\(socket)" }

    struct Trouble: Error {
        var message: String
    }

    init() throws {
        var template = Array((NSTemporaryDirectory() + "reel-queue-XXXXXX").utf8CString)
        guard let name = mkdtemp(&template) else { throw Trouble(message: "no temporary folder") }
        folder = String(cString: name)
        try start()
    }

    /// Starts the server and waits until it answers.
    func start() throws {
        let (leash, output, shell) = (Pipe(), Pipe(), Process())
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = [
            "-c",
            """
            redis-server --port 0 --unixsocket "$1/redis.sock" --dir "$1" --save "" --appendonly yes \
              --appendfsync everysec --logfile "$1/log" </dev/null >/dev/null & server=$!
            echo $server; exec >&-
            read -r end; kill -9 $server; rm -rf "$1"
            """, "sh", folder,
        ]
        (shell.standardInput, shell.standardOutput) = (leash, output)
        try shell.run()
        leashes.append(leash)
        let line = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        guard let number = pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Trouble(message: "redis-server did not start")
        }
        process = number
        let deadline = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < deadline {
            if let client = try? RawRedis(socket: socket), (try? client("PING")) == "PONG" { return }
            usleep(5000)
        }
        throw Trouble(message: "redis-server does not answer, see \(folder)/log")
    }

    /// Waits until it has run for a second, below which nothing is reaped.
    func waitUntilReapable() throws {
        let client = try RawRedis(socket: socket)
        while try client("INFO", "server").contains("uptime_in_seconds:0\r") { usleep(20_000) }
    }

    func kill() {
        Glibc.kill(process, SIGKILL)
        // Its parent reaps it; it is gone when its socket refuses.
        while (try? RawRedis(socket: socket)) != nil { usleep(1000) }
    }

    /// The write commands that the append-only file holds, without the marks of transactions and databases.
    func log() throws -> [[String]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/appendonlydir")
        var bytes: [UInt8] = []
        for name in names.filter({ $0.hasSuffix(".incr.aof") }).sorted() {
            bytes += try Data(contentsOf: URL(fileURLWithPath: "\(folder)/appendonlydir/\(name)"))
        }
        var place = 0
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
}
