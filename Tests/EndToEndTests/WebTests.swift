import Foundation
import ReelTestSupport
import Testing

extension EndToEnd {
    /// Sources on web servers, with real programs.
    @Suite struct WebTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private func serve(_ path: String, as name: String = "my%20film.mp4") throws -> FileServer {
            try FileServer(.init(Data(contentsOf: URL(fileURLWithPath: path)), tag: "\"v1\""), name: name)
        }

        @Test("run reverses a URL to the last sample; its query is nowhere, and its name is the file's")
        func run() async throws {
            let source = try await Clips.shared.film()
            let server = try serve(source)
            let outcome = try await fixture.run(
                .coordinator, ["run", server.url, "-o", "out.mov", "--lossless", "--pass-frames", "25", "--json"])
            #expect(outcome.code == 0, "\(outcome.error)")
            try await fixture.expectExactlyReversed(source, fixture.path("out.mov"))
            let before = try await fixture.samples(of: source, channels: 2)
            #expect(try await fixture.samples(of: fixture.path("out.mov"), channels: 2) == before.map { $0.reversed() })
            #expect(outcome.output.contains("/films/my%20film.mp4?…"))
            #expect(!(outcome.output + outcome.error).contains("secret"))
            #expect(server.requests.allSatisfy { $0.headers["range"] != nil && $0.path.hasSuffix("?signature=secret") })

            let usual = try await fixture.run(.coordinator, ["run", server.url])
            #expect(usual.code == 0, "\(usual.error)")
            #expect(fixture.names == ["my film.reversed.mp4", "out.mov"])
            #expect(try await fixture.isQuiet())
        }

        @Test("a farm makes of a URL what it makes of the file, and workers that may not read it leave it to others")
        func farm() async throws {
            let source = try fixture.copy(try await Clips.shared.crowd(frames: 144, size: "640x360"), as: "crowd.mov")
            let server = try serve(source, as: "crowd.mov")
            let options = ["--lossless", "--pass-frames", "24"]
            try await Fleet.with(fixture, workers: 1) { fleet in
                let id = try await fleet.submit([server.url] + options)
                // The only worker does not read URLs.
                #expect(try await eventually { try await fleet.job(id).state == "failed" })
                let told = try await fleet.coordinator(["status", id])
                #expect(told.output.contains("this host reads no sources from there"), "\(told.output)")
                #expect(!(told.output + told.error).contains("secret"))
                try await fleet.startWorker(arguments: ["--source-host", "127.0.0.1"])
                #expect(try await eventually { try await fleet.listedWorkers().count == 2 })
                #expect(try await fleet.coordinator(["retry", id]).code == 0)
                let ended = try await fleet.coordinator(["wait", id])
                #expect(ended.code == 0, "\(ended.error)")
                let local = try await fleet.submit([source] + options)
                #expect(try await fleet.coordinator(["wait", local]).code == 0)
                let output = try #require(FileManager.default.contents(atPath: fleet.folder(id) + "/output.mov"))
                #expect(output == FileManager.default.contents(atPath: fleet.folder(local) + "/output.mov"))
                try await fixture.expectExactlyReversed(source, fleet.folder(id) + "/output.mov")
                #expect(try await eventually { fleet.leftovers.isEmpty }, "\(fleet.leftovers)")
            }
        }

        @Test("a server takes URLs and objects of the hosts and buckets that it was given, and no others")
        func server() async throws {
            let source = try await Clips.shared.film()
            let (web, bucket) = (try serve(source, as: "film.mp4"), try BucketServer())
            let content = try Data(contentsOf: URL(fileURLWithPath: source))
            bucket.objects = ["footage/film.mp4": content, "private/film.mp4": content]
            let keys = [
                "AWS_ENDPOINT_URL_S3": bucket.endpoint, "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret",
            ]
            let hosts = ["--source-host", "127.0.0.1", "--source-host", "s3://footage"]
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await fleet.startWorker(arguments: hosts, environment: keys)
                try await WebServer.with(fleet, hosts, environment: keys) { server in
                    func refusal(_ request: [String: Any]) async throws -> [String] {
                        let answer = try await server.send("POST", "/api/v1/jobs", request)
                        return ["\(answer.status)", answer.code ?? "", try answer.object()["pointer"] as? String ?? ""]
                    }
                    let other = web.url.replacing("127.0.0.1", with: "127.0.0.2")
                    #expect(try await refusal(["source": other]) == ["403", "url-host-forbidden", "/source"])
                    #expect(
                        try await refusal(["source": "s3://private/film.mp4"])
                            == ["403", "url-host-forbidden", "/source"])
                    let clips = [["source": web.url], ["source": "s3://footage/none.mp4"]]
                    #expect(
                        try await refusal(["edit": ["clips": clips]])
                            == ["422", "object-missing", "/edit/clips/1/source"])
                    #expect(
                        try await refusal(["source": "https://me@127.0.0.1/a"]) == ["400", "url-invalid", "/source"])
                    for source in [web.url, "s3://footage/film.mp4"] {
                        let request: [String: Any] = [
                            "source": source, "options": ["lossless": true, "container": "mov"],
                        ]
                        #expect(try await server.send("POST", "/api/v1/plan", request).status == 200)
                        let answer = try await server.send("POST", "/api/v1/jobs", request)
                        let id = try #require(try answer.object()["id"] as? String)
                        #expect(
                            answer.status == 201 && !String(decoding: answer.body, as: UTF8.self).contains("secret"))
                        #expect(try await eventually { try fleet.sight(id).state == "done" })
                        try await fixture.expectExactlyReversed(
                            try await Clips.shared.film(), fleet.folder(id) + "/output.mov")
                        #expect(
                            try await eventually {
                                try await server.get("/api/v1/jobs/\(id)/filmstrip/source.jpg").status == 200
                            })
                    }
                }
                try await WebServer.with(fleet) { server in
                    let answer = try await server.send("POST", "/api/v1/jobs", ["source": web.url])
                    #expect(answer.status == 403 && answer.code == "urls-closed")
                }
            }
        }

        @Test("clips and the soundtrack of an edit may be URLs")
        func edit() async throws {
            let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let server = try serve(film, as: "film.mp4")
            func edit(_ source: String) -> String {
                """
                {"clips": [{"source": "\(source)", "from": 1, "to": 2, "play": "reverse"}, {"source": "film.mp4", "to": 1}],
                 "soundtrack": {"source": "\(source)", "from": 0.5}}
                """
            }
            for (name, source) in [("web", server.url), ("local", "film.mp4")] {
                try edit(source).write(toFile: fixture.path("\(name).json"), atomically: false, encoding: .utf8)
                let outcome = try await fixture.run(.coordinator, ["run", "\(name).json", "-o", "\(name).mp4"])
                #expect(outcome.code == 0, "\(outcome.error)")
            }
            let made = try #require(FileManager.default.contents(atPath: fixture.path("web.mp4")))
            #expect(made == FileManager.default.contents(atPath: fixture.path("local.mp4")))
        }

        @Test("a signed URL that runs out keeps what is finished; with a new one the same job goes on")
        func signature() async throws {
            let source = try await Clips.shared.long()
            let content = try Data(contentsOf: URL(fileURLWithPath: source))
            let jobs = fixture.path(".reel/jobs")
            let old = try FileServer(.init(content, tag: "\"v1\"")) { _, _ in
                let files = FileManager.default.enumerator(atPath: jobs)?.allObjects as? [String] ?? []
                return files.count { $0.hasSuffix(".nut.json") } >= 2 ? .status(403) : nil
            }
            let new = try FileServer(.init(content, tag: "\"v1\""))
            let options = ["-o", "out.mov", "--lossless", "--pass-frames", "40", "--slots", "1", "--json"]
            let stopped = try await fixture.run(.coordinator, ["run", old.url] + options)
            #expect(stopped.code == 3, "\(stopped.error)")
            #expect(stopped.error.contains("a signed URL may have run out"), "\(stopped.error)")
            let outcome = try await fixture.run(.coordinator, ["run", new.url] + options)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.error.contains("goes on where an earlier run of the same job stopped"), "\(outcome.error)")
            try await fixture.expectExactlyReversed(source, fixture.path("out.mov"))
            #expect(!(stopped.output + stopped.error + outcome.output + outcome.error).contains("secret"))
        }

        /// A film of 10 s with a key frame every 4 frames, each far from the next.
        private func keys(_ options: [String]) async throws -> Data {
            let outcome = try await fixture.run(
                .ffmpeg,
                [
                    "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=10", "-vf", "noise=alls=60:allf=t",
                    "-c:v", "libx264", "-preset", "ultrafast", "-qp", "16", "-g", "4", "-sc_threshold", "0",
                    "-pix_fmt", "yuv420p",
                ] + options + ["keys.mp4"])
            #expect(outcome.code == 0, "\(outcome.error)")
            return try Data(contentsOf: URL(fileURLWithPath: fixture.path("keys.mp4")))
        }

        @Test(
            "a long film is planned with few requests, and its plan is that of the file",
            arguments: [["-movflags", "+faststart"], []])
        func fewRequests(options: [String]) async throws {
            let content = try await keys(options)
            let server = try FileServer(.init(content, tag: "\"v1\""), name: "keys.mp4")
            func plan(_ source: String) async throws -> [String: Any] {
                let outcome = try await fixture.run(.coordinator, ["plan", source, "--json"])
                #expect(outcome.code == 0, "\(outcome.error)")
                let line = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
                // How large the output becomes is not measured over the web.
                let own = ["id", "source", "sources", "output", "expectedBytes"]
                return try #require(line).filter { !own.contains($0.key) }
            }
            let (far, near) = (try await plan(server.url), try await plan("keys.mp4"))
            #expect(far as NSDictionary == near as NSDictionary, "\(far)")
            let read = server.requests.compactMap { $0.headers["range"]?.wholeMatch(of: /bytes=(\d+)-(\d+)/) }.reduce(0)
            {
                $0 + min(Int($1.2) ?? 0, content.count - 1) - (Int($1.1) ?? 0) + 1
            }
            #expect(server.requests.count <= 20, "\(server.requests.map { $0.headers["range"] ?? "" })")
            // The fingerprint takes 2 MiB.
            #expect(read < 2 << 20 + content.count / 10, "\(read) of \(content.count)")
        }

        @Test("a container that calls other frames key than the sample is found out, and the result is exact")
        func falseKeys() async throws {
            var content = try await keys(["-bf", "0", "-movflags", "+faststart"])
            let table = try #require(content.range(of: Data("stss".utf8))).upperBound + 4
            func number(_ place: Int) -> Int { content[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
            let count = number(table)
            #expect(count == 63)
            let sample = Set((0..<8).map { $0 * (count - 1) / 7 })
            for key in 0..<count where !sample.contains(key) { content[table + 4 + 4 * key + 3] += 1 }
            #expect(number(table + 8) == 6)
            try content.write(to: URL(fileURLWithPath: fixture.path("keys.mp4")))
            let server = try FileServer(.init(content, tag: "\"v1\""), name: "keys.mp4")
            let outcome = try await fixture.run(
                .coordinator, ["run", server.url, "-o", "out.mkv", "--lossless", "--pass-frames", "16"])
            #expect(outcome.code == 0, "\(outcome.error)")
            try await fixture.expectExactlyReversed(fixture.path("keys.mp4"), fixture.path("out.mkv"))
        }

        @Test("a URL whose bytes change while it is reversed ends the job as a changed file does")
        func changed() async throws {
            let source = try await Clips.shared.long()
            let content = try Data(contentsOf: URL(fileURLWithPath: source))
            let server = try FileServer(.init(content, tag: "\"v1\"")) { _, number in
                // The source has been planned by then.
                number > 6 ? .status(412) : nil
            }
            let outcome = try await fixture.run(
                .coordinator, ["run", server.url, "-o", "out.mov", "--lossless", "--pass-frames", "40"])
            #expect(outcome.code == 3, "\(outcome.error)")
            #expect(outcome.error.contains("my%20film.mp4?…"), "\(outcome.error)")
            #expect(!outcome.error.contains("secret"))
            #expect(try await fixture.isQuiet())
        }
    }
}
