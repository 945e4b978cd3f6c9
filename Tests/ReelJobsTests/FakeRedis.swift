import Foundation
import Synchronization
import Testing

/// Accepts connections and their names, and answers all other commands as a test says.
final class FakeRedis: Sendable {
    private let folder: URL
    private let listener: Int32

    var url: String { "unix://\(folder.path)/s" }

    /// - Parameter answer: what Redis sends for the words of a command, in its protocol.
    init(answering answer: @escaping @Sendable ([String]) -> String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("reel-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array("\(folder.path)/s".utf8)
        try #require(listener >= 0 && path.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && listen(listener, 4) == 0)
        Thread {
            // A client whose connection breaks connects anew.
            while case let client = accept(listener, nil, nil), client >= 0 {
                defer { close(client) }
                var buffer = [UInt8](repeating: 0, count: 1 << 18)
                while case let count = recv(client, &buffer, buffer.count, 0), count > 0 {
                    // Only the first piece of a command begins with an asterisk.
                    guard buffer[0] == UInt8(ascii: "*") else { continue }
                    let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\r\n")
                    // *2, then a length and a word for each.
                    let words = lines.indices.filter { $0 > 0 && $0 % 2 == 0 }.map { String(lines[$0]) }
                    let reply = Array((words.contains("SETNAME") ? "+OK\r\n" : answer(words)).utf8)
                    _ = send(client, reply, reply.count, Int32(MSG_NOSIGNAL))
                }
            }
        }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        try? FileManager.default.removeItem(at: folder)
    }
}

/// A count that several threads raise.
final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    var now: Int { value.load(ordering: .relaxed) }

    /// Adds one, and returns the sum.
    @discardableResult
    func count() -> Int { value.add(1, ordering: .relaxed).newValue }
}
