import Foundation
import ReelCore
import ReelTestSupport
import Testing

private let splice = ProcessInfo.processInfo.environment["REEL_SPLICE"]
/// How many edits a farm makes; REEL_EDITS asks for more.
private let count = ProcessInfo.processInfo.environment["REEL_EDITS"].flatMap(UInt64.init) ?? 3

extension EndToEnd {
    /// Edits of many kinds by two workers, of which one is killed in the midst of a pass, judged by an independent program.
    @Suite(.enabled(if: splice != nil, "set REEL_SPLICE to run these")) struct FarmEditTests {
        @Test(arguments: 1...max(count, 1))
        func judged(seed: UInt64) async throws {
            let fixture = try ProcessFixture()
            let edit = RandomEdit(seed: seed)
            for source in edit.sources {
                let made = try await fixture.run(.ffmpeg, source.command(path: fixture.path(source.name)))
                #expect(made.code == 0, "\(made.error)")
            }
            let file = fixture.path("cut.json")
            try edit.edit.file(edit.sources.map { fixture.path($0.name) }).write(to: URL(fileURLWithPath: file))
            let output = fixture.path("cut.\(edit.container.rawValue)")
            let limit = edit.passFrames.map { ["--pass-frames", "\($0)"] } ?? []
            try await Fleet.with(fixture, workers: 2) { fleet in
                let waiting = try await fleet.startCoordinator(
                    ["submit", file, "--lossless", "--wait", "-o", output] + limit)
                // Another moment of the job's life for each seed.
                try await Task.sleep(for: .milliseconds(200 + 41 * Int(seed % 40)))
                try await fleet.kill(try #require(await fleet.workers.first))
                let outcome = try await waiting.outcome
                #expect(outcome.code == 0, "seed \(seed): \(outcome.error)")
            }
            let likeness = edit.isScaled ? ["--pictures", "similar"] : []
            let verdict = try await fixture.run(.at(splice ?? ""), [file, output] + likeness)
            #expect(verdict.output.hasPrefix("ok"), "seed \(seed): \(verdict.output)\(verdict.error)")
        }
    }
}
