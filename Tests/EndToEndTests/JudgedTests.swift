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

private let environment = ProcessInfo.processInfo.environment

extension EndToEnd {
    /// Recordings that broke off at random places, judged by an independent program.
    @Suite(
        .enabled(
            if: environment["REEL_CUTS"] != nil && environment["REEL_CORPUS"] != nil,
            "set REEL_CUTS and REEL_CORPUS to run these"))
    struct CutTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// Small ones of the corpus, each of another container.
        private static let files = Thoroughness.third(of: [
            "sony_a7m3_avchd_paff_opengop.mts", "ts_h264_576p_aac_pts3883.ts", "mpeg1_es_no_container.mpg",
            "vp9_alpha_vorbis_200x200.webm", "mkv_h264_444_chapters_negative_start.mkv", "canon_mjpeg_640x480_pcm.avi",
            "flv_h264_bframes_videoonly_start84ms.flv", "theora_vorbis.ogv", "raw_h264_annexb.h264",
        ])

        @Test("what is left of a recording that broke off is reversed as a decoder shows it")
        func brokenOff() async throws {
            let (judge, corpus) = (environment["REEL_CUTS"] ?? "", environment["REEL_CORPUS"] ?? "")
            let outcome = try await fixture.run(
                .at(judge), [Program.folder + "/reel-coordinator", "1", "11"] + Self.files.map { "\(corpus)/\($0)" })
            #expect(outcome.code == 0)
            #expect(outcome.output.hasSuffix("0 of \(Self.files.count) wrong\n"), "\(outcome.output)\(outcome.error)")
        }
    }
}
