import Foundation
import ReelRandom
import ReelTestSupport
import Synchronization
import Testing

extension EndToEnd {
    /// A farm whose store is in a bucket, with real programs.
    @Suite struct BucketStoreTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private func environment(_ server: BucketServer) -> [String: String] {
            server.settings.merging(["REEL_STORE": "s3://reel/work"]) { $1 }
        }

        private let options = ["--lossless", "--pass-frames", "24"]

        /// Runs a command of the farm.
        private func coordinator(_ arguments: [String], _ fleet: Fleet, _ server: BucketServer) async throws -> Outcome
        {
            let redis = fleet.environment(as: "reel-coordinator")
            return try await fixture.run(
                .coordinator, arguments, environment: redis.merging(environment(server)) { $1 })
        }

        /// A farm of two workers.
        private func withFarm(
            _ server: BucketServer, _ body: (Fleet) async throws -> Void
        ) async throws {
            try await Fleet.with(fixture, workers: 0) { fleet in
                let made = try await fixture.run(
                    .coordinator, ["init", "--store", "s3://reel/work", "--json"],
                    environment: fleet.environment(as: "reel-admin").merging(environment(server)) { $1 })
                try #require(made.code == 0, "\(made.error)")
                #expect(made.output.contains("\"store\":\"s3://reel/work\""), "\(made.output)")
                for _ in 0..<2 { try await fleet.startWorker(environment: environment(server)) }
                try await body(fleet)
                let outcomes = try await fleet.endWorkers()
                for outcome in outcomes { #expect(!outcome.error.contains("<3>"), "\(outcome.error)") }
            }
            #expect(try await fixture.isQuiet())
            #expect(fixture.names.filter { $0.hasPrefix("tmp/") } == [])
            #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.path("scratch")) == [])
        }

        /// A server on such a store hands out a result as it reads it, and no more of it than is asked for.
        private func expectServed(_ output: Data, of id: String, _ fleet: Fleet, _ server: BucketServer) async throws {
            // As systemd makes it.
            let uploads = ["STATE_DIRECTORY": fixture.path("state")]
            try FileManager.default.createDirectory(
                atPath: fixture.path("state"), withIntermediateDirectories: false)
            try await WebServer.with(fleet, environment: environment(server).merging(uploads) { $1 }) { web in
                let (place, before) = ("/api/v1/jobs/\(id)/output", server.requests.count)
                let part = try await web.get(place, headers: ["Range": "bytes=1000-1999"])
                #expect(part.status == 206 && part.body == output[1000..<2000])
                let asked = server.requests.dropFirst(before).filter { $0.path.hasSuffix("/output.mov") }
                // Its size is looked at first, with one byte.
                #expect(Set(asked.map { $0.headers["range"] }) == ["bytes=0-0", "bytes=1000-1999"])
                let whole = try await web.get(place)
                #expect(whole.status == 200 && whole.body == output)
                #expect(whole.headers["etag"] == part.headers["etag"])
                server.objects["reel/work/jobs/\(id)/output.mov"]?[100] ^= 1
                await #expect(throws: (any Error).self, "other bytes than recorded") { _ = try await web.get(place) }
                server.objects["reel/work/jobs/\(id)/output.mov"] = output
            }
        }

        private func names(_ server: BucketServer) -> [String] {
            server.objects.keys.filter { $0.hasPrefix("reel/work/") }.map { String($0.dropFirst("reel/work/".count)) }
                .sorted()
        }

        /// How many requests each further pass costs, with those of the assembly for its segment and of its removal.
        @Test("a further pass of a job makes few requests") func requestsOfPasses() async throws {
            let server = try BucketServer()
            server.objects["footage/couples.mp4"] = try Data(
                contentsOf: URL(filePath: try await Clips.shared.couples()))
            try await withFarm(server) { fleet in
                func job(_ passFrames: Int) async throws -> (passes: Int, store: [String], source: Int) {
                    let before = server.requests.count
                    let submitted = try await coordinator(
                        ["submit", "s3://footage/couples.mp4", "--wait", "-o", "\(passFrames).mov"]
                            + ["--crf", "\(passFrames)", "--pass-frames", "\(passFrames)"], fleet, server)
                    #expect(submitted.code == 0, "\(submitted.error)")
                    let id = try #require(submitted.output.split(whereSeparator: \.isNewline).first.map(String.init))
                    #expect(try await eventually { names(server).allSatisfy { !$0.contains("\(id)/segments/") } })
                    let requests = server.requests.dropFirst(before)
                    let status = try await coordinator(["status", id, "--json"], fleet, server)
                    let view = try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any]
                    let passes = try #require(view?["passes"] as? Int, "\(status.output)")
                    let store = requests.filter { !$0.path.hasPrefix("/footage/") }
                    return (passes, store.map { "\($0.method) \($0.path)" }, requests.count - store.count)
                }
                let (few, many) = (try await job(48), try await job(12))
                try #require(many.passes > few.passes + 3, "\(many) \(few)")
                let further = Double(many.passes - few.passes)
                #expect(Double(many.store.count - few.store.count) / further <= 8, "\(many) \(few)")
                #expect(Double(many.source - few.source) / further <= 8, "\(many) \(few)")
            }
        }

        @Test("jobs are done, shown, verified, fetched, resumed and removed as with a folder")
        func jobs() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "ä b+c%2F?&<.mp4")
            let server = try BucketServer()
            try await withFarm(server) { fleet in
                let submitted = try await coordinator(
                    ["submit", source, "--wait", "-o", "out.mov"] + options, fleet, server)
                #expect(submitted.code == 0, "\(submitted.error)")
                #expect(submitted.error.contains("copies the sources into the store"), "\(submitted.error)")
                let id = try #require(submitted.output.split(whereSeparator: \.isNewline).first.map(String.init))
                try await fixture.expectExactlyReversed(source, fixture.path("out.mov"))
                let before = try await fixture.samples(of: source, channels: 2)
                #expect(
                    try await fixture.samples(of: fixture.path("out.mov"), channels: 2) == before.map { $0.reversed() })
                let output = try Data(contentsOf: URL(filePath: fixture.path("out.mov")))
                #expect(server.objects["reel/work/jobs/\(id)/output.mov"] == output)
                // Also those of init, of two workers that start, and of the command that waits and delivers.
                #expect(server.requests.count <= 240, "a job of eight passes")
                // The copy of the source and the segments are gone.
                let kept =
                    ["job.json", "plan.1.json", "output.mov"].map { "jobs/\(id)/\($0)" } + ["store.json", "trial"]
                let isTidy = try await eventually {
                    names(server).allSatisfy { kept.contains($0) || $0.hasPrefix("sources/") }
                }
                #expect(isTidy, "\(names(server))")

                let status = try await coordinator(["status", id, "--json"], fleet, server)
                #expect(status.code == 0 && status.output.contains("\"state\":\"done\""), "\(status.output)")
                let verified = try await coordinator(["verify", id], fleet, server)
                #expect(verified.code == 0 && verified.error.contains("is the verified result"), "\(verified.error)")
                let fetched = try await coordinator(["fetch", id, "-o", "s3://results/b.mov"], fleet, server)
                #expect(fetched.code == 0 && server.objects["results/b.mov"] == output, "\(fetched.error)")
                try await expectServed(output, of: id, fleet, server)
                server.objects["reel/work/jobs/\(id)/output.mov"]?[100] ^= 1
                #expect(try await coordinator(["verify", id], fleet, server).code == 1)
                #expect(try await coordinator(["remove", id], fleet, server).code == 0)
                #expect(names(server).filter { $0.hasPrefix("jobs/") } == [])
            }
        }

        @Test("a farm finishes its jobs although requests fail, a worker is killed and Redis forgets")
        func hardship() async throws {
            let source = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            let faults: [HookReceiver.Answer] = [
                .status(500), BucketServer.refusal(503, "SlowDown"), .bytes(Data(), reset: true),
                .bytes(Data("HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n".utf8), reset: false),
            ]
            let server = try BucketServer { message, number in
                var random = SplitMix64(seed: UInt64(number))
                // The last one is an answer to a request for all of an object.
                let possible = message.headers["range"] == nil ? faults : Array(faults.dropLast())
                return Int.random(in: 0..<10, using: &random) < 3 ? possible.randomElement(using: &random) : nil
            }
            try await withFarm(server) { fleet in
                let submitted = try await coordinator(
                    ["submit", source, "--container", "mov"] + options, fleet, server)
                try #require(submitted.code == 0, "\(submitted.error)")
                let id = submitted.output.trimmingCharacters(in: .newlines)
                @Sendable func segments() -> Int { names(server).filter { $0.hasSuffix(".nut.json") }.count }
                #expect(try await eventually { segments() >= 3 })
                try await fleet.kill(fleet.workers[0])
                try await fleet.startWorker(environment: environment(server))
                #expect(try await eventually { segments() >= 6 })
                _ = try RawRedis(socket: fleet.socket)("FLUSHALL")
                let kept = segments()
                let recovered = try await coordinator(["recover"], fleet, server)
                #expect(recovered.code == 0 && recovered.output.contains(id), "\(recovered.error)")
                let waited = try await coordinator(["wait", id], fleet, server)
                #expect(waited.code == 0, "\(waited.error)")
                let fetched = try await coordinator(["fetch", id, "-o", "out.mov"], fleet, server)
                #expect(fetched.code == 0, "\(fetched.error)")
                try await fixture.expectExactlyReversed(source, fixture.path("out.mov"))
                let shown = try await coordinator(["status", id, "--json"], fleet, server)
                let view = try JSONDecoder().decode(JobJSON.self, from: Data(shown.output.utf8))
                #expect(view.framesDecoded <= 480 - 24 * (kept - 2), "what was there was not made again")
                #expect(server.uploads.isEmpty)
            }
        }

        @Test("a farm waits for a store that refuses its keys, and no job is charged for that")
        func refused() async throws {
            let source = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            let isClosed = Mutex(false)
            let server = try BucketServer { _, _ in
                isClosed.withLock { $0 } ? BucketServer.refusal(403, "AccessDenied") : nil
            }
            try await Fleet.with(fixture, workers: 0) { fleet in
                let made = try await coordinator(["init"], fleet, server)
                try #require(made.code == 0, "\(made.error)")
                let worker = try await fleet.startWorker(environment: environment(server))
                let submitted = try await coordinator(
                    ["submit", source, "--container", "mov"] + options, fleet, server)
                try #require(submitted.code == 0, "\(submitted.error)")
                let id = submitted.output.trimmingCharacters(in: .newlines)
                func count() -> Int { names(server).filter { $0.hasSuffix(".nut.json") }.count }
                while count() < 3 { try await Task.sleep(for: .milliseconds(20)) }
                isClosed.withLock { $0 = true }
                // What is under way ends, and is handed back.
                try await Task.sleep(for: .seconds(8))
                #expect(try fleet.sight(id).live.isEmpty && fleet.sight(id).state == "running")
                isClosed.withLock { $0 = false }
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                let shown = try await coordinator(["status", id, "--json"], fleet, server)
                let view = try JSONDecoder().decode(JobJSON.self, from: Data(shown.output.utf8))
                #expect(view.failures.isEmpty)
                let fetched = try await coordinator(["fetch", id, "-o", "out.mov"], fleet, server)
                #expect(fetched.code == 0, "\(fetched.error)")
                try await fixture.expectExactlyReversed(source, fixture.path("out.mov"))
                let said = try await worker.end().error
                #expect(said.contains("claims nothing: ") && said.contains("the store can be written again"), "\(said)")
            }
        }

        @Test("what is not a store, or may not be used, is named with exit code 4, and a wrong name with 2")
        func refusals() async throws {
            let server = try BucketServer { message, _ in
                if message.path.hasPrefix("/absent") { return BucketServer.refusal(404, "NoSuchBucket") }
                return message.path.hasPrefix("/closed") ? BucketServer.refusal(403, "AccessDenied") : nil
            }
            server.objects = ["other/film.mp4": Data("film".utf8)]
            let cases = [
                ("s3://absent/work", 4, "there is no such bucket"), ("s3://closed/work", 4, "denies access"),
                ("s3://other", 4, "there is no store"), ("s3://x/work", 2, "is no place for a store"),
                ("https://example.org/work", 2, "is no place for a store"),
            ]
            for (store, code, words) in cases {
                let outcome = try await fixture.run(
                    .coordinator, ["init", "--store", store], environment: environment(server))
                #expect(outcome.code == code && outcome.error.contains(words), "\(store): \(outcome.error)")
            }
            #expect(server.objects.count == 1)
        }
    }
}
