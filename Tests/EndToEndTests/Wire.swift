import Foundation
import Glibc

/// A connection to a server, below HTTP.
final class Wire: Sendable {
    private let socket: Int32

    /// Nil if nobody answers at the port.
    init?(port: Int) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) == 0 }
        }
        guard isConnected else { return nil }
    }

    deinit { close(socket) }

    /// Sends some of the bytes, and returns how many; 0 or less if the other side is gone.
    @discardableResult
    func send(_ bytes: some Sequence<UInt8>) -> Int {
        let bytes = Array(bytes)
        return Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// What has come by now, at most 64 KiB; nil if the other side has ended the connection.
    func receive() -> Data? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN { return Data() }
        return count > 0 ? Data(bytes[..<count]) : nil
    }

    /// Sends a request as it is spelled, and returns all that comes until the other side ends the connection; nil if it does
    /// not within three minutes.
    func exchange(_ request: String) async throws -> String? {
        send(request.utf8)
        var answer = Data()
        let deadline = ContinuousClock.now + .seconds(180)
        while let bytes = receive() {
            answer += bytes
            guard ContinuousClock.now < deadline else { return nil }
            if bytes.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
        }
        return String(decoding: answer, as: UTF8.self)
    }
}
