import Foundation
import Testing

extension EndToEnd {
    @Suite struct PlanTests {
        private struct PlanJSON: Decodable {
            struct Pass: Decodable, Equatable {
                var kind: String
                var firstFrame: Int?
                var endFrame: Int?
                var runs: Int
            }

            var frames: Int
            var passes: [Pass]
            var need: Int64
            var framesToDecode: Int
            var expectedBytes: Int64?
        }

        /// The original method's own example: 456 frames by 100, the odd ones first.
        @Test func fourHundredFiftySixFramesByAHundred() async throws {
            let plan = try await plan(["--pass-frames", "100"])
            #expect(plan.framesToDecode == 456)
            #expect(plan.passes.map(\.firstFrame) == [400, 300, 200, 100, 0])
            #expect(plan.passes.map(\.endFrame) == [456, 400, 300, 200, 100])
            #expect(plan.passes.allSatisfy { $0.kind == "video" && $0.runs == 1 })
        }

        /// Packets that need no decoding are reordered unless other pictures, or passes, are asked for.
        @Test func packetsThatAreCopied() async throws {
            let plan = try await plan([])
            #expect(plan.framesToDecode == 0)
            #expect(plan.passes == [])
        }

        @Test(
            "a plan says about how large the output becomes, and leaves nothing",
            arguments: [
                ["-o", "out.mp4"], ["-o", "out.mkv", "--crf", "30"], ["-o", "out.mp4", "--bitrate", "300k"],
                ["-o", "out.mkv", "--lossless", "--to", "2"], ["-o", "out.mp4", "--play", "ping-pong", "--times", "3"],
                ["-o", "out.m4a"],
            ])
        func expectedSize(options: [String]) async throws {
            let fixture = try ProcessFixture()
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let outcome = try await fixture.run(.coordinator, ["plan", source, "--json"] + options)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(fixture.names == ["film.mp4"])
            let plan = try JSONDecoder().decode(PlanJSON.self, from: Data(outcome.output.utf8))
            let expected = try #require(plan.expectedBytes)
            let run = try await fixture.run(.coordinator, ["run", source] + options)
            #expect(run.code == 0, "\(run.error)")
            let made = try FileManager.default.attributesOfItem(atPath: fixture.path(options[1]))
            let bytes = try #require(made[.size] as? Int64)
            #expect(
                (0.85...1.15).contains(Double(expected) / Double(bytes)), "\(options): \(expected), and it is \(bytes)")
        }

        /// A plan for 456 key frames.
        private func plan(_ options: [String]) async throws -> PlanJSON {
            let fixture = try ProcessFixture()
            let source = try fixture.copy(try await Clips.shared.allKeys(), as: "keys.mp4")
            let outcome = try await fixture.run(.coordinator, ["plan", source, "--json"] + options)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(fixture.names == ["keys.mp4"])
            let plan = try JSONDecoder().decode(PlanJSON.self, from: Data(outcome.output.utf8))
            #expect(plan.frames == 456)
            #expect(plan.need > 0)
            return plan
        }
    }
}
