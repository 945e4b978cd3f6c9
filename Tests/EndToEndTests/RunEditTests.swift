import Foundation
import ReelCore
import ReelTestSupport
import Testing

extension EndToEnd {
    /// `reel-coordinator run` of edits, when all goes well.
    @Suite struct RunEditTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        @Test("moments are played forward, backward and forward again, and no frame twice where they turn")
        func rewound() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let outcome = try await fixture.run(
                .coordinator,
                ["run", source, "--container", "mov", "--lossless", "--rewind", "0f-2f,30f-48f,00:00:03:12-120f"])
            #expect(outcome.code == 0, "\(outcome.error)")
            let before = try await fixture.frames(of: source).map(\.hash)
            let after = try await fixture.frames(of: fixture.path("film.rewound.mov")).map(\.hash)
            let back = [Array(0..<2), Array(0..<48), Array((31..<47).reversed()), Array(30..<120)]
            let last = [Array((85..<119).reversed()), Array(84..<120)]
            #expect(after == (back + last).joined().map { before[$0] })
        }

        @Test("a film that is slower than another is stitched to it at the other's rate")
        func oneRate() async throws {
            let fast = try fixture.copy(try await Clips.shared.film(), as: "fast.mp4")
            let slow = fixture.path("slow.mp4")
            let drawn = try await fixture.run(
                .ffmpeg,
                ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=12:d=2", "-c:v", "libx264", slow])
            #expect(drawn.code == 0, "\(drawn.error)")
            let outcome = try await fixture.run(
                .coordinator,
                ["run", slow, fast, "--stitch", "-o", "out.mkv", "--video-codec", "ffv1", "--trim", "none"])
            #expect(outcome.code == 0, "\(outcome.error)")
            let (first, made) = (
                try await fixture.frames(of: slow), try await fixture.frames(of: fixture.path("out.mkv"))
            )
            let second = try await fixture.frames(of: fast)
            #expect(made.suffix(second.count).map(\.hash) == second.map(\.hash))
            // Of 12 frames a second, at 24000/1001.
            let shown = made.dropLast(second.count).map(\.hash)
            #expect(shown.count == 48 && Set(shown).count == 24)
            #expect(shown.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } } == first.map(\.hash))
        }
    }
}
