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
        /// Packets that need no decoding are reordered unless other pictures are asked for.
        @Test(arguments: [(["--crf", "20"], 456), ([], 0)])
        func fourHundredFiftySixFramesByAHundred(options: [String], decoded: Int) async throws {
            let bench = try Bench()
            let source = try bench.copy(try await Clips.shared.allKeys(), as: "keys.mp4")
            let outcome = try await bench.run(
                .coordinator, ["plan", source, "--pass-frames", "100", "--json"] + options)
            #expect(outcome.code == 0, "\(outcome.error)")
            let plan = try JSONDecoder().decode(PlanJSON.self, from: Data(outcome.output.utf8))
            #expect(plan.frames == 456)
            #expect(plan.framesToDecode == decoded)
            #expect(plan.passes.map(\.firstFrame) == [400, 300, 200, 100, 0])
            #expect(plan.passes.map(\.endFrame) == [456, 400, 300, 200, 100])
            #expect(plan.passes.allSatisfy { $0.kind == "video" && $0.runs == 1 })
            #expect(plan.need > 0)
            #expect(bench.names == ["keys.mp4"])
        }
    }
}
