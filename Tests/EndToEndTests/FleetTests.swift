import Foundation
import Subprocess
import Testing

extension EndToEnd {
    /// A farm: a Redis of its own, workers that share a store, jobs that are submitted.
    @Suite struct FleetTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private var environment: [String: String] {
            ["REEL_REDIS": "unix://\(fixture.path("redis/sock"))", "REEL_STORE": fixture.path("store")]
        }

        /// Runs a Redis as deploy/ would, and `body` while it runs.
        private func withRedis(_ body: @escaping @Sendable () async throws -> Void) async throws {
            for folder in ["redis", "store"] {
                try FileManager.default.createDirectory(atPath: fixture.path(folder), withIntermediateDirectories: true)
            }
            let arguments = [
                "--port", "0", "--unixsocket", fixture.path("redis/sock"), "--dir", fixture.path("redis"),
                "--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction",
            ]
            let outcome = try await fixture.run(.redis, arguments) { running in
                defer { try? running.send(.terminate) }
                let socket = fixture.path("redis/sock")
                try #require(try await eventually { FileManager.default.fileExists(atPath: socket) })
                let prepared = try await coordinator(["init"])
                try #require(prepared.code == 0, "\(prepared.error)")
                try await body()
            }
            #expect(outcome.code == 0)
        }

        /// Runs a worker with one slot, and `body` while it runs.
        private func withWorker(_ body: @escaping @Sendable (Running) async throws -> Void) async throws -> Outcome {
            try await fixture.run(.worker, ["--slots", "1", "--grace", "1"], environment: environment) { running in
                defer { try? running.send(.terminate) }
                try await body(running)
            }
        }

        private func coordinator(_ arguments: [String]) async throws -> Outcome {
            try await fixture.run(.coordinator, arguments, environment: environment)
        }

        private func job(_ id: String) async throws -> JobJSON {
            let outcome = try await coordinator(["status", id, "--json"])
            try #require(outcome.code == 0, "\(outcome.error)")
            return try JSONDecoder().decode(JobJSON.self, from: Data(outcome.output.utf8))
        }

        private func expect(_ id: String, becomes state: String) async throws {
            let became = try await eventually { try await job(id).state == state }
            #expect(became, "the job should become \(state)")
        }

        private func jobs() async throws -> [JobJSON] {
            let outcome = try await coordinator(["status", "--json"])
            try #require(outcome.code == 0, "\(outcome.error)")
            return try JSONDecoder().decode([JobJSON].self, from: Data(outcome.output.utf8))
        }

        private func workers() async throws -> [WorkerJSON] {
            let outcome = try await coordinator(["workers", "--json"])
            try #require(outcome.code == 0, "\(outcome.error)")
            return try JSONDecoder().decode([WorkerJSON].self, from: Data(outcome.output.utf8))
        }

        private struct WorkerJSON: Decodable {
            struct Pass: Decodable {
                var job: String
                var pass: Int
            }

            var id: String
            var host: String
            var slots: Int
            var passes: [Pass]
        }

        @Test func fromSubmitToFetch() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await withRedis {
                let submitted = try await coordinator(["submit", source, "--pass-frames", "30"])
                #expect(submitted.code == 0, "\(submitted.error)")
                let id = submitted.output.trimmingCharacters(in: .newlines)
                #expect(submitted.error.contains("when it is done: reel-coordinator fetch \(id)"))

                let waiting = try await job(id)
                #expect(waiting.state == "running")
                #expect(waiting.passesDone == 0)
                #expect(waiting.passes == 5)
                #expect(waiting.warnings.contains { $0.hasPrefix("no worker is connected") })
                let early = try await coordinator(["fetch", id, "-o", "early.mp4"])
                #expect(early.code == 1)
                let again = try await coordinator(["submit", source, "--pass-frames", "30"])
                #expect(again.output == submitted.output)
                #expect(again.error.contains("is running already"))

                #expect(try await coordinator(["cancel", id]).code == 0)
                #expect(try await job(id).state == "cancelled")
                #expect(try await coordinator(["submit", source, "--pass-frames", "30"]).output == submitted.output)
                let worker = try await withWorker { _ in try await expect(id, becomes: "done") }
                #expect(worker.code == 0)

                let done = try await job(id)
                #expect(done.framesDecoded >= 120)
                #expect(done.failures.isEmpty)
                let stored = try #require(done.output)
                #expect(stored.hasPrefix(fixture.path("store/jobs/\(id)/")))
                let left = try FileManager.default.contentsOfDirectory(atPath: fixture.path("store/jobs/\(id)"))
                    .sorted()
                #expect(!left.contains("segments"))
                #expect(!left.contains("assemblies"))

                #expect(try await coordinator(["fetch", id, "-o", "out.mkv"]).code == 2)
                #expect(try await coordinator(["fetch", "0123", "-o", "out.mp4"]).code == 2)
                #expect(try await coordinator(["fetch", id, "-o", "out.mp4"]).code == 0)
                #expect(try await coordinator(["fetch", id, "-o", "out.mp4"]).code == 5)
                let (a, b) = (try Data(contentsOf: URL(fileURLWithPath: stored)), fixture.path("out.mp4"))
                #expect(try Data(contentsOf: URL(fileURLWithPath: b)) == a)
                let order = nearest(
                    try await fixture.thumbnails(of: b), among: try await fixture.thumbnails(of: source))
                #expect(order == Array((0..<120).reversed()))

                // The result is there: no worker is needed to deliver it again.
                let finished = try await coordinator(
                    ["submit", source, "--pass-frames", "30", "--wait", "-o", "third.mp4"])
                #expect(finished.code == 0, "\(finished.error)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path("third.mp4"))) == a)
            }
        }

        @Test("a farm plays forth and back with the bytes of one machine, even if a worker is killed")
        func pingPong() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let options = ["--play", "ping-pong", "--times", "3", "--pass-frames", "24", "--threads", "1"]
            let alone = try await fixture.run(.coordinator, ["run", source] + options + ["--json"])
            #expect(alone.code == 0, "\(alone.error)")
            let view = try JSONDecoder().decode(JobJSON.self, from: Data(alone.output.utf8))
            #expect(view.frames == 238 && view.framesEncoded == 238)
            let wanted = fixture.path("film.ping-pong.mp4")
            try await withRedis {
                let submitted = try await coordinator(["submit", source] + options)
                #expect(submitted.code == 0, "\(submitted.error)")
                let id = submitted.output.trimmingCharacters(in: .newlines)
                #expect(submitted.error.contains("when it is done: reel-coordinator fetch \(id)"))
                _ = try await withWorker { worker in
                    _ = try await eventually { try await job(id).passesDone > 1 }
                    try worker.send(.kill)
                }
                _ = try await withWorker { _ in try await expect(id, becomes: "done") }
                #expect(try await coordinator(["fetch", id, "-o", "farm.mp4"]).code == 0)
            }
            let bytes = try Data(contentsOf: URL(fileURLWithPath: wanted))
            #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path("farm.mp4"))) == bytes)
            let shown = nearest(
                try await fixture.thumbnails(of: wanted), among: try await fixture.thumbnails(of: source))
            let loop = Array(0..<120) + (1..<119).reversed()
            #expect(shown == loop + loop + loop)
        }

        @Test("an edit of several sources, staged, by workers of which one is killed, is what run makes, byte by byte")
        func severalSources() async throws {
            _ = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let wide = try fixture.copy(try await Clips.shared.wide(), as: "wide.mp4")
            try FileManager.default.createDirectory(atPath: fixture.path("other"), withIntermediateDirectories: true)
            // Another file of the same name: the copies in the store must not meet.
            try FileManager.default.copyItem(atPath: wide, toPath: fixture.path("other/film.mp4"))
            let edit = fixture.path("cut.json")
            try """
            {"clips": [{"source": "film.mp4", "play": "ping-pong", "to": 2, "times": 2},
              {"source": "other/film.mp4", "from": 0.5, "to": 2, "play": "reverse", "speed": "3/2"}, {"gap": 0.25},
              {"source": "film.mp4", "from": 1, "play": "freeze", "duration": 0.5}]}
            """.write(toFile: edit, atomically: false, encoding: .utf8)
            let options = ["--pass-frames", "24", "--threads", "1", "--preset", "ultrafast"]
            let alone = try await fixture.run(.coordinator, ["run", edit, "--json"] + options)
            #expect(alone.code == 0, "\(alone.error)")
            let wanted = try Data(contentsOf: URL(fileURLWithPath: fixture.path("cut.cut.mp4")))
            try await withRedis {
                let submitted = try await coordinator(["submit", edit, "--stage"] + options)
                #expect(submitted.code == 0, "\(submitted.error)")
                let id = submitted.output.trimmingCharacters(in: .newlines)
                // Workers that see the copies alone.
                try FileManager.default.removeItem(atPath: fixture.path("other/film.mp4"))
                _ = try await withWorker { worker in
                    _ = try await eventually { try await job(id).passesDone > 1 }
                    try worker.send(.kill)
                }
                _ = try await withWorker { _ in
                    _ = try await withWorker { _ in try await expect(id, becomes: "done") }
                }
                #expect(try await coordinator(["fetch", id, "-o", "farm.mp4"]).code == 0)
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path("farm.mp4"))) == wanted)
        }

        @Test("a song without video is heard beside pictures that run backwards, from a farm as from run")
        func soundtrack() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let song = fixture.path("song.mp3")
            let made = try await fixture.run(
                .ffmpeg, ["-v", "error", "-f", "lavfi", "-i", "sine=440:d=9", "-c:a", "libmp3lame", song])
            #expect(made.code == 0, "\(made.error)")
            let options = ["--soundtrack", song, "--soundtrack-from", "0:01.5", "--threads", "1"]
            let alone = try await fixture.run(.coordinator, ["run", source, "-o", "alone.mp4"] + options)
            #expect(alone.code == 0, "\(alone.error)")
            try await withRedis {
                let submitted = try await coordinator(["submit", source, "--stage"] + options)
                #expect(submitted.code == 0, "\(submitted.error)")
                let id = submitted.output.trimmingCharacters(in: .newlines)
                _ = try await withWorker { _ in try await expect(id, becomes: "done") }
                #expect(try await coordinator(["fetch", id, "-o", "farm.mp4"]).code == 0)
            }
            let bytes = { try Data(contentsOf: URL(fileURLWithPath: fixture.path($0))) }
            #expect(try bytes("farm.mp4") == bytes("alone.mp4"))
            // A song is no clip.
            let clip = try await fixture.run(.coordinator, ["run", song, "-o", "song.mp4"])
            #expect(clip.code == 3 && clip.error.contains("has no video"), "\(clip.error)")
            let film = try await fixture.run(.coordinator, ["plan", source, "--otio", "film.otio"] + options)
            #expect(film.code == 3 && film.error.contains("soundtrack"), "\(film.error)")
        }

        @Test func aSourceOfAnEditThatChangesIsNamed() async throws {
            _ = try fixture.copy(try await Clips.shared.film(), as: "a.mp4")
            let second = try fixture.copy(try await Clips.shared.wide(), as: "b.mp4")
            try await withRedis {
                let submitted = try await coordinator(
                    ["submit", fixture.path("a.mp4"), second, "--stitch", "--json", "--preset", "ultrafast"])
                #expect(submitted.code == 0, "\(submitted.error)")
                let line = try #require(submitted.output.split(whereSeparator: \.isNewline).first)
                let view = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
                let id = try #require(view["id"])
                let file = try FileHandle(forWritingTo: URL(fileURLWithPath: second))
                try file.seek(toOffset: 100)
                try file.write(contentsOf: Data("other".utf8))
                try file.close()
                _ = try await withWorker { _ in try await expect(id, becomes: "failed") }
                let status = try await coordinator(["status", id])
                let listed = status.output.split(whereSeparator: \.isNewline).filter { $0.hasSuffix(".mp4") }
                #expect(listed.count == 2, "\(status.output)")
                #expect(status.output.contains("b.mp4") || status.error.contains("b.mp4"), "\(status.output)")
            }
        }

        @Test func anEngineIsKilled() async throws {
            let source = try fixture.copy(try await Clips.shared.wide(), as: "wide.mp4")
            try await withRedis {
                _ = try await withWorker { running in
                    async let submitted = coordinator(
                        ["submit", source, "--wait", "-o", "out.mov", "--lossless", "--pass-frames", "150", "--json"])
                    #expect(try await running.waits { try await jobs().first?.passesLive == 1 })
                    #expect(try await running.waits { fixture.kill("reel-engine --memory") })
                    let outcome = try await submitted
                    #expect(outcome.code == 0, "\(outcome.error)")
                    let last = try #require(outcome.output.split(whereSeparator: \.isNewline).last)
                    let view = try JSONDecoder().decode(JobJSON.self, from: Data(last.utf8))
                    #expect(view.failures.map(\.attempts) == [["crash": 1]])
                    #expect(view.failures.first?.lastMessage.contains("SIGKILL") == true)
                    try await fixture.expectExactlyReversed(source, fixture.path("out.mov"))
                }
            }
        }

        @Test func cancellingStopsTheEngine() async throws {
            let source = try fixture.copy(try await Clips.shared.wide(), as: "wide.mp4")
            try await withRedis {
                let worker = try await withWorker { running in
                    let slow = ["submit", source, "--preset", "placebo", "--crf", "0"]
                    let id = try await coordinator(slow).output.trimmingCharacters(in: .newlines)
                    #expect(try await running.waits { try await job(id).passesLive == 1 })
                    #expect(try await coordinator(["cancel", id]).code == 0)
                    let engines = { @Sendable in fixture.processes.filter { $0.contains("reel-engine") } }
                    #expect(try await eventually { engines().isEmpty })
                    #expect(try await job(id).state == "cancelled")
                }
                #expect(worker.code == 0)
                #expect(worker.error.contains("the job was cancelled"))
            }
        }

        @Test func aSourceThatChanged() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await withRedis {
                let id = try await coordinator(["submit", source]).output.trimmingCharacters(in: .newlines)
                let file = URL(fileURLWithPath: source)
                var bytes = try Data(contentsOf: file)
                bytes.append(0)
                try bytes.write(to: file)
                _ = try await withWorker { _ in try await expect(id, becomes: "failed") }
                let status = try await coordinator(["status", id])
                #expect(status.output.contains("has changed since the job was submitted"))
                #expect(try await coordinator(["fetch", id, "-o", "out.mp4"]).code == 1)
            }
        }

        @Test func aWorkerDrains() async throws {
            let source = try fixture.copy(try await Clips.shared.wide(), as: "wide.mp4")
            try await withRedis {
                let id = try await coordinator(["submit", source, "--lossless", "--pass-frames", "240"])
                    .output.trimmingCharacters(in: .newlines)
                let worker = try await withWorker { running in
                    let isHeld = try await running.waits { try await job(id).passesLive == 1 }
                    #expect(isHeld)
                }
                #expect(worker.code == 0, "\(worker.error)")
                let handedBack = try await job(id)
                #expect(handedBack.failures.isEmpty, "handing back is no failed attempt")
                #expect(try await workers().isEmpty)
                let parts = try FileManager.default.contentsOfDirectory(
                    atPath: fixture.path("store/jobs/\(id)/segments"))
                #expect(parts.filter { $0.hasSuffix(".part") } == [])

                // A waiting process can be interrupted without losing the job.
                let waiting = try await fixture.run(
                    .coordinator, ["submit", source, "--lossless", "--pass-frames", "240", "--wait"],
                    environment: environment
                ) { running in
                    try await Task.sleep(for: .seconds(1))
                    try running.send(.interrupt)
                }
                #expect(waiting.code == 130)
                #expect(waiting.errorLines.last?.contains("goes on without this command") == true)
                #expect(try await job(id).state == "running")
            }
        }

        @Test func jobsArePausedRetriedAndRemoved() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await withRedis {
                let id = try await coordinator(["submit", source]).output.trimmingCharacters(in: .newlines)
                #expect(try await coordinator(["pause", id]).code == 0)
                let queue = try await coordinator(["queue"])
                #expect(queue.code == 0)
                #expect(queue.output.contains("1 job active, 0 failed; 0 workers"))
                #expect(queue.output.contains("waits: it is paused"))
                #expect(!queue.output.contains("\u{1B}"))
                let refused = try await coordinator(["remove", "0123456789abcdef", id])
                #expect(refused.code == 2)
                #expect(refused.errorLines.map { $0.contains("cancel it first") } == [false, true])
                #expect(refused.errorLines.first?.contains("there is no job 0123456789abcdef") == true)
                #expect(try await coordinator(["retry", id]).code == 2)

                // The source is damaged, so that the job fails, and then restored.
                let bytes = try Data(contentsOf: URL(fileURLWithPath: source))
                try FileManager.default.moveItem(atPath: source, toPath: fixture.path("kept"))
                try (bytes + [0]).write(to: URL(fileURLWithPath: source))
                #expect(try await coordinator(["resume", id]).code == 0)
                _ = try await withWorker { _ in try await expect(id, becomes: "failed") }
                let failed = try await coordinator(["status", id])
                #expect(failed.output.contains("1 exhausted"))
                #expect(failed.output.contains("1 x permanent"))
                try FileManager.default.removeItem(atPath: source)
                try FileManager.default.moveItem(atPath: fixture.path("kept"), toPath: source)
                #expect(try await coordinator(["retry", id]).code == 0)
                let worker = try await withWorker { running in
                    try await expect(id, becomes: "done")
                    #expect(try await coordinator(["drain", "no-such-host"]).code == 2)
                    let host = try #require(try await workers().first?.host)
                    #expect(try await coordinator(["drain", host]).code == 0)
                    #expect(try await coordinator(["undrain", host]).code == 0)
                }
                #expect(worker.code == 0, "\(worker.error)")
                let watched = try await coordinator(["status", id, "--watch", "--json"])
                #expect(try JSONDecoder().decode(JobJSON.self, from: Data(watched.output.utf8)).state == "done")

                #expect(try await coordinator(["remove", id]).code == 0)
                #expect(try await coordinator(["status", id]).code == 2)
                #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.path("store/jobs")).isEmpty)
            }
        }

        @Test func watchingTheQueueEndsWithCtrlC() async throws {
            try await withRedis {
                let watched = try await fixture.run(
                    .coordinator, ["queue", "--watch", "--json"], environment: environment
                ) {
                    running in
                    try await Task.sleep(for: .milliseconds(1500))
                    try running.send(.interrupt)
                }
                #expect(watched.code == 0)
                #expect(watched.output.hasPrefix(#"{"active":0,"#))
            }
        }
    }
}
