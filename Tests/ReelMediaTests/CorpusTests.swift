import Foundation
import ReelCore
import Testing

private let corpus = ProcessInfo.processInfo.environment["REEL_CORPUS"]
private let oracle = ProcessInfo.processInfo.environment["REEL_ORACLE"]

/// Real files, judged by an independent program. Both are named by the environment.
@Suite("Corpus", .enabled(if: corpus != nil && oracle != nil, "set REEL_CORPUS and REEL_ORACLE to run these"))
struct CorpusTests {
    @Test(
        "is reversed without loss",
        arguments: [
            "h264_bpyramid3_sar64x45.mp4", "iphone6s_h264_rot90_mebx.mov", "flir_phone_h264_vfr_audio_late.mp4",
            "quicktime_h264_vfr_bframes_600tb.mov", "av1_single_key_125f.mkv", "vp9_odd_161x121.webm",
            "canon_mjpeg_640x480_pcm.avi", "phone_mpeg4_sp_amr.3gp", "ts_h264_576p_aac_pts3883.ts",
        ])
    func lossless(file: String) throws {
        let folder = try ScratchFolder()
        let source = (corpus ?? "") + "/" + file
        let job = try MediaJob(source, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        let verdict = try run(oracle ?? "", "check", source, job.output)
        #expect(verdict.hasPrefix("ok"), "\(verdict)")
    }
}
