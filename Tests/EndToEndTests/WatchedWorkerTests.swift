import Foundation
import Glibc
import Testing

extension EndToEnd {
    /// A worker that answers over HTTP how it is.
    @Suite struct WatchedWorkerTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// Starts a worker that answers at a port of its own, and returns when it takes work.
        private func start(_ fleet: Fleet, _ arguments: [String] = []) async throws -> WebServer {
            let port = try WebServer.freePort()
            let child = try await fleet.startWorker(
                arguments: ["--listen", "127.0.0.1:\(port)", "--beat", "0.1"] + arguments)
            let worker = WebServer(child: child, port: port, path: "")
            try #require(try await eventually { (try? await worker.get("/readyz").status) == 200 })
            return worker
        }

        /// Waits until the worker says that it takes work, if `obstacle` is nil, or why it takes none.
        private func expect(_ worker: WebServer, _ obstacle: String?) async throws {
            let awaited = (obstacle == nil ? 200 : 503, (obstacle ?? "ok") + "\n")
            #expect(
                try await eventually {
                    let answer = try await worker.get("/readyz")
                    return (answer.status, answer.text) == awaited
                }, "\(awaited)")
        }

        private func expectFigures(_ worker: WebServer, _ lines: String...) async throws {
            let text = try await worker.get("/metrics").text
            for line in lines { #expect(text.contains("\n\(line)\n"), "\(line) in \(text)") }
        }

        @Test("figures of a worker that does a job")
        func figures() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let worker = try await start(fleet, ["--memory-total", "1GiB"])
                let figures = try await worker.get("/metrics")
                #expect(figures.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
                try await expectFigures(
                    worker, "reel_redis_up 1", "reel_store_up 1", "reel_worker_ready 1", "reel_worker_draining 0",
                    "reel_worker_slots{state=\"free\"} 1", "reel_worker_slots{state=\"busy\"} 0",
                    "reel_worker_memory_limit_bytes 1073741824",
                    "reel_worker_pass_attempts_total{outcome=\"done\",cause=\"\"} 0")
                let id = try await fleet.submit([source, "--to", "6f", "--lossless"])
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                // At least a pass and the assembly. The worker counts what the board has taken, a moment after it.
                #expect(
                    try await eventually {
                        let done = /\nreel_worker_pass_attempts_total\{outcome="done",cause=""\} (\d+)\n/
                        let count = try await worker.get("/metrics").text.firstMatch(of: done)?.1
                        return try #require(count.flatMap { Int($0) }) >= 2
                    })
                try await expectFigures(worker, "reel_worker_pass_attempts_total{outcome=\"failed\",cause=\"crash\"} 0")
                #expect(try await worker.get("/").status == 404)
                #expect(try await worker.send("HEAD", "/healthz").status == 200)
            }
        }

        @Test("a worker says why it takes no work, and that it lives")
        func obstacles() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                let worker = try await start(fleet)
                let host = try #require(try await fleet.listedWorkers().first).host
                _ = try await fleet.coordinator(["drain", host])
                try await expect(worker, "drained")
                try await expectFigures(
                    worker, "reel_worker_draining 1", "reel_worker_slots{state=\"drained\"} 1", "reel_redis_up 1")
                _ = try await fleet.coordinator(["undrain", host])
                try await expect(worker, nil)

                try await fleet.killRedis()
                try await expect(worker, "redis-unreachable")
                try await expectFigures(worker, "reel_redis_up 0", "reel_worker_ready 0")
                #expect(try await worker.get("/healthz").text == "ok\n")
                try await fleet.startRedis()
                try await expect(worker, nil)

                try FileManager.default.moveItem(atPath: fleet.store, toPath: fleet.store + "-away")
                try await expect(worker, "store-unusable")
                try await expectFigures(worker, "reel_store_up 0", "reel_redis_up 1")
                #expect(try await worker.get("/healthz").status == 200)
                try FileManager.default.moveItem(atPath: fleet.store + "-away", toPath: fleet.store)
                try await expect(worker, nil)

                #expect(try await worker.child.end().code == 0)
            }
        }

        @Test("a worker that ends answers until its last pass has ended")
        func ending() async throws {
            let source = try fixture.copy(
                try await Clips.shared.crowd(frames: 144, size: "1280x720"), as: "crowd.mov")
            try await Fleet.with(fixture, workers: 0) { fleet in
                let id = try await fleet.submit([source, "--lossless", "--pass-frames", "12"])
                let worker = try await start(fleet, ["--grace", "600"])
                let held = try await fleet.hold(id)
                worker.child.send(SIGTERM)
                try await expect(worker, "ending")
                try await expectFigures(worker, "reel_worker_draining 1", "reel_worker_slots{state=\"busy\"} 1")
                #expect(try await worker.get("/healthz").status == 200)
                kill(held.engine, SIGCONT)
                #expect(try await worker.child.outcome.code == 0)
                #expect(try fleet.sight(id).done[held.index] == held.token)
            }
        }

        @Test("a worker that cannot listen ends before it works")
        func taken() async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                let first = try await start(fleet)
                let second = try await fleet.startWorker(arguments: ["--listen", "127.0.0.1:\(first.port)"])
                let outcome = try await second.outcome
                #expect(outcome.code == 4)
                let expected =
                    "reel-worker: cannot listen at 127.0.0.1:\(first.port): Address already in use; "
                    + "choose another with --listen"
                #expect(outcome.errorLines.last.map(String.init) == expected)
                #expect(try await fleet.listedWorkers().count == 1)
                let unread = try await fleet.startWorker(arguments: ["--listen", "8080"])
                #expect(try await unread.outcome.code == 2)
            }
        }
    }
}
