import Foundation
import Glibc
import ReelTestSupport
import Testing

extension EndToEnd {
    /// A worker as a service: what it tells the service manager and its log, and how one asks whether workers live.
    @Suite struct ServiceTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        @Test("the service manager learns when a worker has reached Redis, that it is alive, and that it ends")
        func notifications() async throws {
            let manager = try Manager(at: fixture.path("notify"))
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await fleet.killRedis()
                let worker = try await fleet.startWorker(
                    arguments: ["--beat", "0.1"], environment: ["NOTIFY_SOCKET": fixture.path("notify")])
                #expect(manager.next()?.hasPrefix("STATUS=waits for Redis and the store: ") == true)
                try await fleet.startRedis()
                var heard: [String] = []
                while let message = manager.next(), heard.count < 1000 {
                    if !message.hasPrefix("STATUS=waits") { heard.append(message) }
                    if heard.count == 5 { break }
                }
                #expect(Set(heard.prefix(3)) == ["READY=1", "STATUS=works, slots: 1", "WATCHDOG=1"])
                #expect(heard.dropFirst(3) == ["WATCHDOG=1", "WATCHDOG=1"])
                worker.send(SIGTERM)
                var last = manager.next()
                while last == "WATCHDOG=1" { last = manager.next() }
                #expect(last == "STOPPING=1")
                #expect(try await worker.end().code == 0)
            }
        }

        private struct Line: Decodable {
            var time: String
            var level: String
            var logger: String
            var message: String
            var job: String?
            var pass: Int?
            var source: String?
            var milliseconds: Int?
        }

        @Test("the log as JSON: an object on each line, with what it is about by name")
        func log() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let worker = try await fleet.startWorker(arguments: ["--log-format", "json"])
                let id = try await fleet.submit([source, "--to", "6f", "--lossless"])
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                worker.send(SIGTERM)
                let lines = try await worker.end().errorLines.map { line in
                    try JSONDecoder().decode(Line.self, from: Data(line.utf8))
                }
                #expect(
                    lines.allSatisfy { $0.logger == "reel-worker" && $0.time.hasSuffix("Z") && $0.time.contains(".") })
                let finished = try #require(
                    lines.first { $0.message.hasPrefix("finished pass 0 of job \(id) (film.mp4)") })
                #expect(finished.level == "info" && finished.job == id && finished.pass == 0)
                #expect(finished.source == source)
                let milliseconds = try #require(finished.milliseconds)
                #expect(milliseconds > 0 && milliseconds < 60_000)
            }
        }

        /// What libdispatch may not do as a user without privileges, and reports, comes before anything else.
        @Test(
            "a normal start of worker and server logs no warning and no error, nor does it say anything to the system's log"
        )
        func quiet() async throws {
            let plain = ["LD_PRELOAD": try await Clips.shared.plainUser()]
            try await Fleet.with(fixture, workers: 0) { fleet in
                let worker = try await fleet.startWorker(
                    arguments: ["--log-format", "json", "--listen", "127.0.0.1:0"], environment: plain)
                #expect(try await eventually { try await fleet.listedWorkers().count == 1 })
                let server = try await WebServer.launch(fleet, ["--log-format", "json"], environment: plain)
                #expect(
                    try await eventually {
                        (try? await server.get("/api/v1/ready").status) == 200 || !server.child.isRunning
                    })
                for child in [worker, server.child] {
                    let outcome = try await child.end()
                    #expect(outcome.code == 0)
                    #expect(!outcome.errorLines.isEmpty)
                    for line in outcome.errorLines {
                        let event = try? JSONDecoder().decode(Line.self, from: Data(line.utf8))
                        #expect(["info", "notice", "warning"].contains(event?.level), "\(line)")
                    }
                }
            }
        }

        @Test("workers --check tells by its exit code whether a worker takes work")
        func check() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                @Sendable func check(_ arguments: String...) async throws -> Outcome {
                    try await fleet.coordinator(["workers", "--check"] + arguments)
                }
                let nobody = try await check()
                #expect(nobody.code == 4)
                #expect(nobody.errorLines.last == "reel-coordinator: no worker is connected")
                try await fleet.startWorker()
                #expect(try await eventually { try await check().code == 0 })
                let host = try #require(try await fleet.listedWorkers().first).host
                _ = try await fleet.coordinator(["drain", host])
                let drained = try await check()
                #expect(drained.code == 4)
                #expect(
                    drained.errorLines.last
                        == "reel-coordinator: no worker takes work: the only one is gone, drained, or claims nothing")
                _ = try await fleet.coordinator(["undrain", host])
                #expect(try await check("--json").code == 0)
                #expect(try await check("--watch").code == 2)
            }
        }
    }
}

/// The socket of a service manager, as sd_notify(3) describes it.
private final class Manager: Sendable {
    private let socket: Int32

    init(at path: String) throws {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let isBound = withUnsafePointer(to: name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound, "errno \(errno)")
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(socket) }

    /// The next message; nil if none comes within 20 seconds.
    func next() -> String? {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = recv(socket, &bytes, bytes.count, 0)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
