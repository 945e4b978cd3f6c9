import Foundation
import ReelTestSupport
import Testing

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
