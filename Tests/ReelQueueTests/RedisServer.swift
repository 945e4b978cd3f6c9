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

/// Looks at Redis past the board, and changes what only time or accidents would.
final class RawRedis {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(socket path: String) throws {
        descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else {
            close(descriptor)
            throw RedisServer.Trouble(message: "cannot connect to \(path)")
        }
    }

    deinit { close(descriptor) }

    /// The answer as text; lists one element a line, nothing as "".
    @discardableResult
    func callAsFunction(_ command: String...) throws -> String { try send(command) }

    @discardableResult
    func send(_ command: [String]) throws -> String {
        var bytes = Array("*\(command.count)\r\n".utf8)
        for argument in command { bytes += Array("$\(argument.utf8.count)\r\n\(argument)\r\n".utf8) }
        guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw RedisServer.Trouble(message: "cannot send")
        }
        return try answer()
    }

    private func answer() throws -> String {
        let head = try line()
        let rest = String(head.dropFirst())
        switch head.first {
        case "$":
            guard let count = Int(rest), count >= 0 else { return "" }
            while buffer.count < count + 2 { try fill() }
            defer { buffer.removeFirst(count + 2) }
            return String(decoding: buffer[..<count], as: UTF8.self)
        case "*": return try (0..<max(0, Int(rest) ?? 0)).map { _ in try answer() }.joined(separator: "\n")
        case "-": throw RedisServer.Trouble(message: rest)
        default: return rest
        }
    }

    private func line() throws -> String {
        while true {
            if let end = buffer.firstIndex(of: 13), end + 1 < buffer.count {
                defer { buffer.removeFirst(end + 2) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            try fill()
        }
    }

    private func fill() throws {
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        guard count > 0 else { throw RedisServer.Trouble(message: "connection closed") }
        buffer += chunk[..<count]
    }
}
