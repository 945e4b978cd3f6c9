package import Foundation
internal import Glibc
internal import Synchronization

/// A receiver of webhooks: a small server of HTTP in the test's process.
package final class HookReceiver: Sendable {
    /// A request as it came.
    package struct Message: Sendable {
        /// The method.
        package var method: String
        /// Path and query.
        package var path: String
        /// By their names in small letters.
        package var headers: [String: String]
        /// The body.
        package var body: Data
    }

    /// What to answer.
    package enum Answer: Sendable {
        /// A status without a body.
        case status(Int)
        /// To another place.
        case redirection(String)
        /// Nothing, until the receiver ends.
        case silence
        /// These bytes, as they are, and then an end of the connection: in order, or by a reset.
        case bytes(Data, reset: Bool)
    }

    /// It cannot listen.
    package struct Trouble: Error {}

    /// The port at which it listens.
    package let port: Int
    private let listener: Int32
    private let answer: @Sendable (Message, Int) -> Answer
    private let state = Mutex(State())

    private struct State {
        var messages: [Message] = []
        var open: [Int32] = []
    }

    /// Listens on 127.0.0.1.
    ///
    /// - Parameter answer: to a message, which has come as the one of that number, from 1.
    package init(_ answer: @escaping @Sendable (Message, Int) -> Answer = { _, _ in .status(204) }) throws {
        self.answer = answer
        listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let bound: in_port_t? = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                guard bind(listener, general, length) == 0, listen(listener, 16) == 0,
                    getsockname(listener, general, &length) == 0
                else { return nil }
                return pointer.pointee.sin_port
            }
        }
        guard let bound else { throw Trouble() }
        port = Int(in_port_t(bigEndian: bound))
        Thread { [self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                Thread { [self] in serve(connection) }.start()
            }
            // Here, and not in `end`: another receiver's listener would get the same number, and this loop its connections.
            close(listener)
        }.start()
    }

    /// Ends it, and all that it has not answered.
    package func end() {
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in state.withLock({ state in
            defer { state.open = [] }
            return state.open
        }) { close(connection) }
    }

    /// What has come, the first one first.
    package var messages: [Message] { state.withLock(\.messages) }

    /// Waits until that number of messages has come; false if it has not within three minutes.
    package func has(_ count: Int) async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(180)
        while messages.count < count {
            guard ContinuousClock.now < deadline else { return false }
            try await Task.sleep(for: .milliseconds(20))
        }
        return true
    }

    private func serve(_ connection: Int32) {
        guard let message = HookReceiver.read(connection) else {
            close(connection)
            return
        }
        let number = state.withLock { state in
            state.messages.append(message)
            return state.messages.count
        }
        let head: String
        switch answer(message, number) {
        case .status(let status): head = "HTTP/1.1 \(status) X"
        case .redirection(let place): head = "HTTP/1.1 307 X\r\nLocation: \(place)"
        case .silence:
            state.withLock { $0.open.append(connection) }
            return
        case .bytes(let bytes, let reset):
            HookReceiver.send(Array(bytes), to: connection)
            if reset {
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
            }
            close(connection)
            return
        }
        HookReceiver.send(Array("\(head)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8), to: connection)
        close(connection)
    }

    private static func send(_ bytes: [UInt8], to connection: Int32) {
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while let start = bytes.baseAddress, done < bytes.count {
                let count = Glibc.send(connection, start + done, bytes.count - done, Int32(MSG_NOSIGNAL))
                guard count > 0 else { return }
                done += count
            }
        }
    }

    private static func read(_ connection: Int32) -> Message? {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let end = bytes.range(of: Data("\r\n\r\n".utf8)) {
                let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                let words = lines[0].split(separator: " ").map(String.init)
                let headers = lines.dropFirst().reduce(into: [String: String]()) { headers, line in
                    let parts = line.split(separator: ":", maxSplits: 1)
                    headers[parts[0].lowercased()] = parts.last?.trimmingCharacters(in: .whitespaces)
                }
                let length = headers["content-length"].flatMap { Int($0) } ?? 0
                let body = bytes[end.upperBound...]
                if body.count >= length, words.count == 3 {
                    return Message(method: words[0], path: words[1], headers: headers, body: Data(body))
                }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes.append(contentsOf: buffer[..<count])
        }
    }
}
