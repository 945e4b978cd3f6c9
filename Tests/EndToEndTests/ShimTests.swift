import Foundation
import Testing

extension EndToEnd {
    /// reel's own C code, which is inline in its modules' headers, with the sanitizers of Swift's clang.
    @Suite struct ShimTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        @Test("no sanitizer reports a shim that reads damaged media")
        func damagedMedia() async throws {
            let clips = [
                try fixture.copy(try await Clips.shared.film(), as: "film.mp4"),
                try fixture.copy(try await Clips.shared.long(), as: "long.mp4"),
            ]
            let script = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../scripts/sanitize")
                .standardized
            let outcome = try await fixture.run(.at(script.path), ["--rounds", "2", "--seed", "7"] + clips)
            #expect(outcome.code == 0, "\(outcome.error)")
            let counts = try #require(
                outcome.output.firstMatch(of: /(\d+) packets damaged, (\d+) frames read, 0 files refused/))
            #expect(Int(counts.1) ?? 0 > 1000)
            #expect(Int(counts.2) ?? 0 > 500)
        }
    }
}
