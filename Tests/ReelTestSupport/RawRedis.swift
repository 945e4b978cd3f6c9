internal import Glibc

/// Sends commands to Redis without the board, as a user with all permissions, so that a test can inspect its keys, and
/// change what otherwise only time or an accident changes.
package final class RawRedis {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// Redis could not be reached, or answered with an error.
    package struct Trouble: Error {
        /// What went wrong, or Redis's own message.
        package var message: String
    }

    /// Connects to the Redis at a Unix socket, as its user `admin`.
    package init(socket path: String) throws {
        descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        // Thrown with all properties set: deinit closes the socket.
        guard connected == 0 else { throw Trouble(message: "cannot connect to \(path)") }
        try send(["AUTH", "admin", "admin"])
    }

    deinit { close(descriptor) }

    /// Sends a command and returns the answer as text: each element of a list on a line of its own, nil as "".
    @discardableResult
    package func callAsFunction(_ command: String...) throws -> String { try send(command) }

    /// Sends a command and returns the answer as text, as `callAsFunction` does.
    @discardableResult
    package func send(_ command: [String]) throws -> String {
        var bytes = Array("*\(command.count)\r\n".utf8)
        for argument in command { bytes += Array("$\(argument.utf8.count)\r\n\(argument)\r\n".utf8) }
        guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Trouble(message: "cannot send")
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
        case "-": throw Trouble(message: rest)
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
        guard count > 0 else { throw Trouble(message: "connection closed") }
        buffer += chunk[..<count]
    }
}
