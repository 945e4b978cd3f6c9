import Foundation
import Testing

extension EndToEnd {
    /// The examples of docs/api.md, as they stand there.
    @Suite(.enabled(if: hasTools, "scripts/setup curl jq openssl installs what the examples need"))
    struct APIDocumentTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// A block of commands of the page.
        private struct Example {
            var heading: String
            /// The number of the line after its fence.
            var line: Int
            var text: String
        }

        private static let page = URL(filePath: #filePath).appending(path: "../../../docs/api.md").standardized

        private func examples() throws -> [Example] {
            let page = try String(contentsOf: APIDocumentTests.page, encoding: .utf8)
            var (examples, heading, isInside): ([Example], String, Bool) = ([], "", false)
            for (place, line) in page.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                if isInside {
                    isInside = line != "```"
                    if isInside { examples[examples.count - 1].text += line + "\n" }
                } else if line == "```sh" {
                    isInside = true
                    examples.append(Example(heading: heading, line: place + 2, text: ""))
                } else if line.hasPrefix("## ") {
                    heading = String(line.dropFirst(3))
                }
            }
            return examples
        }

        /// Runs examples in their order in one shell, in the fixture's folder. If one fails, the answer is its place, its text and
        /// what it said; else nil.
        private func failure(of examples: [Example], _ environment: [String: String]) async throws -> String? {
            let mark = "=== example "
            let script = "exec 2>&1\n" + examples.map { "echo '\(mark)'\n\($0.text)" }.joined()
            try script.write(toFile: fixture.path("examples.sh"), atomically: true, encoding: .utf8)
            let outcome = try await fixture.run(
                .at("/usr/bin/timeout"),
                ["--kill-after=5", "200", "bash", "-euo", "pipefail", fixture.path("examples.sh")],
                environment: environment)
            let parts = outcome.output.components(separatedBy: mark + "\n")
            let last = examples.dropFirst(max(parts.count - 2, 0)).first
            guard outcome.code != 0 || parts.count != examples.count + 1, let last else { return nil }
            return """
                docs/api.md:\(last.line) (\(last.heading)) ended with exit code \(outcome.code):
                \(last.text)
                It said:
                \(parts.last ?? "")
                """
        }

        @Test func anExampleThatFailsIsNamedWithWhatItSaid() async throws {
            let (first, last) = ("one=1\necho first", "echo never")
            for (text, said, code) in [
                ("echo $one; ls /nowhere", "/nowhere", 2), ("false | cat", "It said", 1), ("echo $two", "two", 1),
                ("exit 0", "It said", 0),
            ] {
                let examples = [(1, first), (5, text), (9, last)].map { line, text in
                    Example(heading: "H", line: line, text: text + "\n")
                }
                let failure = try #require(try await failure(of: examples, [:]), "\(text)")
                #expect(failure.hasPrefix("docs/api.md:5 (H) ended with exit code \(code):\n\(text)\n"), "\(failure)")
                #expect(failure.contains(said), "\(failure)")
                #expect(!failure.contains("first") && !failure.contains("never"), "\(failure)")
            }
        }

        @Test func everyExampleRunsAndDoesWhatThePageSays() async throws {
            let examples = try examples()
            #expect(examples.count > 20)
            let folder = fixture.path("sources")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let source = "\(folder)/my film.mp4"
            try FileManager.default.copyItem(atPath: try await Clips.shared.film(), toPath: source)
            let token = try await fixture.run(
                .at(Program.folder + "/reel-server"),
                ["token", "a", "--role", "admin", "--tokens", fixture.path("tokens")])
            try #require(token.code == 0, "\(token.error)")
            let admin = token.output.trimmingCharacters(in: .newlines)
            try await Fleet.with(fixture, workers: 1) { fleet in
                // With a base path, which examples must not forget.
                try await WebServer.with(
                    fleet, ["--tokens", fixture.path("tokens"), "--sources", folder, "--base-path", "/reel"],
                    path: "/reel"
                ) { server in
                    let environment = ["SERVER": server.url(""), "TOKEN": admin, "SOURCE": source, "no_proxy": "*"]
                    if let failure = try await failure(of: examples, environment) {
                        Issue.record("\(failure)")
                        return
                    }
                    let jobs = try #require(
                        try await server.get("/api/v1/jobs", token: admin).object()["jobs"] as? [[String: Any]])
                    try await checkResults(fleet, jobs, source)
                    try await checkUploads(server, token: admin, jobs, source)
                    try checkEvents()
                    try await checkPictures()
                    try checkTexts(jobs)
                    let workers = try await fleet.listedWorkers()
                    #expect(workers.map(\.drained) == [nil])
                }
            }
        }

        private func data(_ name: String) throws -> Data {
            try Data(contentsOf: URL(fileURLWithPath: fixture.path(name)))
        }

        private func text(_ name: String) throws -> String { String(decoding: try data(name), as: UTF8.self) }

        private func id(_ jobs: [[String: Any]], named name: String) throws -> String {
            try #require(jobs.first { $0["name"] as? String == name }?["id"] as? String, "\(name): \(jobs)")
        }

        /// Downloads are the verified results, in one piece and in two.
        private func checkResults(_ fleet: Fleet, _ jobs: [[String: Any]], _ source: String) async throws {
            let job = try id(jobs, named: "Garden")
            let verified = try await fleet.coordinator(["verify", job, "--file", fixture.path("result.mkv")])
            #expect(verified.code == 0, "\(verified.error)")
            let view = try #require(jobs.first { $0["id"] as? String == job })
            #expect(try data("result.mkv").count == view["outputBytes"] as? Int)
            #expect(try data("resumed.mkv") == data("result.mkv"))
            #expect(try await fixture.frames(of: fixture.path("result.mkv")).count == 120)
            let after = try await fixture.thumbnails(of: fixture.path("result.mkv"))
            let before = try await fixture.thumbnails(of: source)
            #expect(nearest(after, among: before) == (0..<120).reversed().map { $0 })

            let edit = fixture.path("edit.mkv")
            let fetched = try await fleet.coordinator(["fetch", try id(jobs, named: "There and back"), "-o", edit])
            #expect(fetched.code == 0, "\(fetched.error)")
            // The first second has 24 frames.
            #expect(try await fixture.frames(of: edit).count == 48)
        }

        /// Uploads in pieces and in parts are the source's bytes, and jobs are made of them.
        private func checkUploads(
            _ server: WebServer, token: String, _ jobs: [[String: Any]], _ source: String
        ) async throws {
            let film = try Data(contentsOf: URL(fileURLWithPath: source))
            #expect(try data("uploaded.bytes") == film)
            #expect(try data("joined.bytes") == film)
            let lossless = try #require(
                jobs.first { ($0["options"] as? [String: Any])?["lossless"] as? Bool == true }?["id"] as? String)
            let output = try await server.get("/api/v1/jobs/\(lossless)/output", token: token)
            #expect(
                output.headers["content-disposition"]?.contains("filename*=UTF-8''my%20film.reversed.") == true,
                "\(output.headers)")
            try output.body.write(to: URL(fileURLWithPath: fixture.path("lossless")))
            try await fixture.expectExactlyReversed(source, fixture.path("lossless"))
        }

        /// What came after the plan is sent again, and nothing before it.
        private func checkEvents() throws {
            func kinds(_ name: String) throws -> [String] {
                try text(name).split(separator: "\n").filter { $0.hasPrefix("event: ") }.map { String($0.dropFirst(7)) }
            }
            #expect(try kinds("events.txt").first == "begun")
            let missed = try kinds("missed.txt")
            #expect(missed.contains("done"), "\(missed)")
            #expect(!missed.contains("begun") && !missed.contains("published") && !missed.contains("resync"))
        }

        private func checkPictures() async throws {
            for (name, isStrip) in [
                ("source.jpg", false), ("output.jpg", false), ("source-strip.jpg", true), ("output-strip.jpg", true),
            ] {
                let probed = try await fixture.run(
                    .ffprobe,
                    ["-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "csv=p=0"]
                        + [fixture.path(name)])
                let parts = probed.output.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: ",")
                try #require(parts.count == 3 && parts[0] == "mjpeg", "\(name): \(probed.output) \(probed.error)")
                let (width, height) = (Int(parts[1]) ?? 0, Int(parts[2]) ?? 0)
                // Frames of 160 by 120, twelve of them side by side in a strip.
                #expect(isStrip ? width >= 12 * height : abs(3 * width - 4 * height) <= 8, "\(name): \(parts)")
            }
        }

        private func checkTexts(_ jobs: [[String: Any]]) throws {
            #expect(
                try text("jobs.tsv")
                    == "\(id(jobs, named: "There and back"))\tdone\tThere and back\n\(id(jobs, named: "Garden"))\tdone\tGarden\n"
            )
            #expect(try text("again.json").contains("\"id\":\"\(id(jobs, named: "Garden"))\""))
            #expect(try text("problem.json").contains("\"code\":\"option-invalid\""))
            #expect(try text("metrics.txt").contains("\nreel_redis_up 1\n"))
            #expect(!jobs.contains { $0["name"] as? String == "Draft" })
        }
    }
}

private let hasTools = ["curl", "jq", "openssl"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0)
}
