internal import Foundation
internal import Glibc

/// A connection to a server's stream of events.
struct EventListener: Sendable {
    private let socket: Int32

    /// Connects and asks for the stream. Throws `Trouble` if that does not succeed.
    init(_ server: String) throws {
        guard let url = URL(string: server), let port = url.port else { throw Trouble("no address: \(server)") }
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        let request = Array("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        guard connected == 0, send(socket, request, request.count, 0) == request.count else {
            throw Trouble("the server cannot be listened to: \(String(cString: strerror(errno)))")
        }
    }

    /// When each of this many events of these names came. Ends the connection.
    func times(of count: Int, names: Set<String>) async throws -> [ContinuousClock.Instant] {
        try await withCheckedThrowingContinuation { continuation in
            // Reading blocks.
            Thread.detachNewThread { continuation.resume(with: Result { try read(count, names) }) }
        }
    }

    private func read(_ count: Int, _ names: Set<String>) throws -> [ContinuousClock.Instant] {
        defer { close(socket) }
        var (times, text) = ([ContinuousClock.Instant](), "")
        var room = [UInt8](repeating: 0, count: 1 << 16)
        while times.count < count {
            let read = recv(socket, &room, room.count, 0)
            guard read > 0 else { throw Trouble("the stream of events ended") }
            let now = ContinuousClock.now
            text += String(decoding: room[..<read], as: UTF8.self)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            text = String(lines.last ?? "")
            for line in lines.dropLast() {
                if let name = line.wholeMatch(of: /event: (.*?)\r?/)?.1, names.contains(String(name)) {
                    times.append(now)
                }
            }
        }
        return times
    }
}
