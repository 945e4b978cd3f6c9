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
