import Foundation
import ReelTestSupport
import Testing

extension EndToEnd {
    /// Sources and results in buckets, with real programs.
    @Suite struct BucketTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private func environment(_ endpoint: String) -> [String: String] {
            [
                "AWS_ENDPOINT_URL_S3": endpoint, "AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": "testing",
                "AWS_REGION": "us-east-1",
            ]
        }

        private func coordinator(_ arguments: [String], _ server: BucketServer) async throws -> Outcome {
            try await fixture.run(.coordinator, arguments, environment: environment(server.endpoint))
        }

        @Test("run reverses an object to the last sample, and writes the result as another")
        func run() async throws {
            let source = try await Clips.shared.film()
            let server = try BucketServer()
            let content = try Data(contentsOf: URL(fileURLWithPath: source))
            server.objects = ["footage/a b?.mp4": content]
            let address = "s3://footage/a b?.mp4"
            let arguments = [
                "run", address, "-o", "s3://results/out.mov", "--lossless", "--pass-frames", "25", "--json",
            ]
            let outcome = try await coordinator(arguments, server)
            #expect(outcome.code == 0, "\(outcome.error)")
            let result = try #require(server.objects["results/out.mov"])
            try result.write(to: URL(fileURLWithPath: fixture.path("out.mov")))
            try await fixture.expectExactlyReversed(source, fixture.path("out.mov"))
            let before = try await fixture.samples(of: source, channels: 2)
            #expect(try await fixture.samples(of: fixture.path("out.mov"), channels: 2) == before.map { $0.reversed() })
            #expect(outcome.output.contains("\"output\":\"s3://results/out.mov\""), "\(outcome.output)")
            #expect(!(outcome.output + outcome.error).contains("testing"))

            // Nothing is replaced unasked, and that is known before any work.
            let again = try await coordinator(arguments, server)
            #expect(again.code == 5 && again.error.contains("s3://results/out.mov exists"), "\(again.error)")
            let skipped = try await coordinator(arguments + ["--skip-existing"], server)
            #expect(skipped.code == 0 && skipped.error.contains("skipped"), "\(skipped.error)")
            #expect(server.objects["results/out.mov"] == result)
            let itself = try await coordinator(["run", address, "-o", address, "--overwrite"], server)
            #expect(itself.code == 5, "\(itself.error)")

            let named = try await coordinator(
                ["run", address, "--output-dir", "s3://results/b", "--container", "mkv"], server)
            #expect(named.code == 0, "\(named.error)")
            let usual = try await coordinator(["run", address], server)
            #expect(usual.code == 0, "\(usual.error)")
            #expect(Set(server.objects.keys) == ["footage/a b?.mp4", "results/out.mov", "results/b/a b?.reversed.mkv"])
            #expect(fixture.names == ["a b?.reversed.mp4", "out.mov"])
            #expect(try await fixture.isQuiet())
        }

        @Test("what is not there or not allowed is named, with the exit code of who needs it")
        func refusals() async throws {
            let source = try Data(contentsOf: URL(fileURLWithPath: try await Clips.shared.film()))
            let server = try BucketServer { message, _ in
                if message.path.hasPrefix("/absent/") { return BucketServer.refusal(404, "NoSuchBucket") }
                return message.path.hasPrefix("/closed/") && message.method == "PUT"
                    ? BucketServer.refusal(403, "AccessDenied") : nil
            }
            server.objects = ["footage/a.mp4": source]
            let cases: [([String], Int, String)] = [
                (["s3://footage/b.mp4", "-o", "out.mp4"], 3, "s3://footage/b.mp4: the bucket has no such object"),
                (["s3://absent/b.mp4", "-o", "out.mp4"], 3, "there is no such bucket"),
                (["s3://footage/a.mp4", "-o", "s3://absent/out.mp4"], 5, "there is no such bucket"),
                (["s3://footage/a.mp4", "-o", "s3://closed/out.mp4"], 5, "denies access"),
                (["s3://footage", "-o", "out.mp4"], 2, "names a bucket"),
                (["s3://footage/a.mp4", "-o", "s3://x/out.mp4"], 2, "no place for an output"),
                (["s3://footage/a.mp4", "-o", "https://example.org/out.mp4"], 2, "no place for an output"),
            ]
            for (arguments, code, words) in cases {
                let outcome = try await coordinator(["run"] + arguments, server)
                #expect(outcome.code == code && outcome.error.contains(words), "\(arguments): \(outcome.error)")
            }
            // The work of the one that could not be delivered is kept for the same command.
            #expect(fixture.names == [".reel"])
            #expect(server.objects.count == 1)
            let nobody = try await fixture.run(
                .coordinator, ["run", "s3://footage/a.mp4"],
                environment: ["AWS_ENDPOINT_URL_S3": server.endpoint, "AWS_EC2_METADATA_DISABLED": "true"])
            #expect(nobody.code == 3 && nobody.error.contains("has no keys"), "\(nobody.error)")
        }

        @Test("a farm reads objects and delivers to a bucket what it makes of the file, and fetch writes there, too")
        func farm() async throws {
            let source = try fixture.copy(try await Clips.shared.crowd(frames: 144, size: "640x360"), as: "crowd.mov")
            let server = try BucketServer()
            server.objects = ["footage/crowd.mov": try Data(contentsOf: URL(fileURLWithPath: source))]
            let options = ["--lossless", "--pass-frames", "24"]
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await fleet.startWorker(environment: environment(server.endpoint))
                func fleetRun(_ arguments: [String]) async throws -> Outcome {
                    try await fixture.run(
                        .coordinator, arguments,
                        environment: fleet.environment(as: "reel-coordinator").merging(environment(server.endpoint)) {
                            $1
                        })
                }
                let submitted = try await fleetRun(
                    ["submit", "s3://footage/crowd.mov", "-o", "s3://results/a.mov", "--wait"] + options)
                #expect(submitted.code == 0, "\(submitted.error)")
                let id = try #require(submitted.output.split(whereSeparator: \.isNewline).first.map(String.init))
                let local = try await fleet.submit([source] + options)
                #expect(try await fleet.coordinator(["wait", local]).code == 0)
                let output = FileManager.default.contents(atPath: fleet.folder(local) + "/output.mov")
                #expect(output != nil && server.objects["results/a.mov"] == output)
                try await fixture.expectExactlyReversed(source, fleet.folder(id) + "/output.mov")

                let verified = try await fleetRun(["verify", id, "--file", "s3://results/a.mov"])
                #expect(verified.code == 0 && verified.error.contains("is the verified result"), "\(verified.error)")
                server.objects["results/b.mov"] = output.map { $0 + [0] }
                #expect(try await fleetRun(["verify", id, "--file", "s3://results/b.mov"]).code == 1)
                #expect(try await fleetRun(["verify", id, "--file", "s3://results/none.mov"]).code == 3)

                let again = try await fleetRun(["fetch", id])
                #expect(again.code == 5 && again.error.contains("s3://results/a.mov exists"), "\(again.error)")
                let fetched = try await fleetRun(["fetch", id, local, "-o", "s3://results/all"])
                #expect(fetched.code == 0, "\(fetched.error)")
                #expect(server.objects["results/all/a.mov"] == output)
                #expect(server.objects["results/all/crowd.reversed.mov"] == output)
                #expect(try await eventually { fleet.leftovers.isEmpty }, "\(fleet.leftovers)")
            }
        }
    }
}
