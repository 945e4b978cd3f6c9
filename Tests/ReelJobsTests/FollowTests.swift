import Foundation
import ReelCore
import ReelJobs
import ReelQueue
import Synchronization
import Testing

/// What whoever waits for a job does while Redis cannot answer.
@Suite struct FollowTests {
    @Test func asksNoOftenerWhereRedisIsThereAndRefuses() async throws {
        let redis = try LoadingRedis()
        let board = Board(try RedisAddress(redis.url), name: "test")
        let follow = Follow(JobID("a1"), on: board, interval: .milliseconds(100), patience: .seconds(1))
        let failure = try #require(await #expect(throws: ReelFailure.self) { try await follow.untilEnd { _ in } })
        #expect(failure.kind == .unreachable && failure.cause == .transient)
        guard case .redisRefused(_, let said, true) = failure.reason else {
            Issue.record("\(failure.reason)")
            return
        }
        #expect(said.hasPrefix("LOADING"))
        #expect(redis.refused.load(ordering: .relaxed) <= 12)
    }
}

/// A Redis that is still reading its log: it takes a connection and its name, and refuses all else.
private final class LoadingRedis: Sendable {
    let refused = Atomic<Int>(0)
    private let folder: URL
    private let listener: Int32

    var url: String { "unix://\(folder.path)/s" }

    init() throws {
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
        Thread { [weak self] in
            // One that is refused so connects anew.
            while case let client = accept(listener, nil, nil), client >= 0 {
                defer { close(client) }
                var buffer = [UInt8](repeating: 0, count: 1 << 18)
                while case let count = recv(client, &buffer, buffer.count, 0), count > 0 {
                    // What comes in pieces begins with an asterisk once.
                    guard buffer[0] == UInt8(ascii: "*"), let self else { continue }
                    let isName = String(decoding: buffer[..<count], as: UTF8.self).contains("SETNAME")
                    if !isName { self.refused.add(1, ordering: .relaxed) }
                    let answer = Array(
                        (isName ? "+OK\r\n" : "-LOADING Redis is loading the dataset in memory\r\n").utf8)
                    _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
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
