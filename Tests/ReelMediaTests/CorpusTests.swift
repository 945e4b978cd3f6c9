import Foundation
import ReelCore
import ReelMedia
import ReelTestSupport
import ReelWords
import Testing

private let corpus = ProcessInfo.processInfo.environment["REEL_CORPUS"]
private let oracle = ProcessInfo.processInfo.environment["REEL_ORACLE"]
private let unseen = ProcessInfo.processInfo.environment["REEL_UNSEEN"]

/// The rows of a folder's list of files, without its head.
private func manifest(of folder: String?) -> [[Substring]] {
    let text = (try? String(contentsOfFile: (folder ?? "") + "/MANIFEST.tsv", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").dropFirst().map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
}

/// How a file is made for a judge, which compares pictures as they are coded: pictures that players turn go into a
/// container that has players turn them, too.
func losslessSpec(_ source: String) throws -> JobSpec {
    let isTurned = try Recon(.file(source)).run().video.stream.displayMatrix != nil
    return JobSpec(container: isTurned ? .mov : .mkv, lossless: true)
}

/// Real files that were not used while reel was developed, judged by the same program as the corpus.
@Suite("Unseen", .enabled(if: unseen != nil && oracle != nil, "set REEL_UNSEEN and REEL_ORACLE to run these"))
struct UnseenTests {
    private static let files = Thoroughness.third(of: manifest(of: unseen).compactMap { $0.first.map(String.init) })

    @Test("is reversed without loss", arguments: files)
    func lossless(file: String) throws {
        let folder = ScratchFolder()
        let source = (unseen ?? "") + "/" + file
        let job = try MediaJob(source, spec: try losslessSpec(source), folder: folder.path)
        let verdict = try run(oracle ?? "", ["check", source, job.output])
        #expect(verdict.hasPrefix("ok"), "\(file): \(verdict)")
    }
}

/// Real files, judged by an independent program. Both are named by the environment.
@Suite("Corpus", .enabled(if: corpus != nil && oracle != nil, "set REEL_CORPUS and REEL_ORACLE to run these"))
struct CorpusTests {
    private static let whole = Thoroughness.third(of: [
        "h264_bpyramid3_sar64x45.mp4", "iphone6s_h264_rot90_mebx.mov", "flir_phone_h264_vfr_audio_late.mp4",
        "quicktime_h264_vfr_bframes_600tb.mov", "av1_single_key_125f.mkv", "vp9_odd_161x121.webm",
        "canon_mjpeg_640x480_pcm.avi", "phone_mpeg4_sp_amr.3gp", "ts_h264_576p_aac_pts3883.ts",
        "divx5_packed_b_gmc_ac3_51.avi", "raw_h264_annexb.h264", "mpeg1_es_no_container.mpg",
        "atsc_mpeg2_480i_opengop.ts", "h264_two_edits_end_on_b.mp4",
    ])

    @Test("is reversed without loss", arguments: whole)
    func lossless(file: String) throws { try judge(file) }

    private static let playable = Thoroughness.third(
        of: manifest(of: corpus).filter { $0.last?.hasPrefix("ok") == true }.compactMap { $0.first.map(String.init) })

    @Test("half a second is shown forth and back, each frame as in its reversal", arguments: playable)
    func pingPong(file: String) throws {
        let source = (corpus ?? "") + "/" + file
        let index = try Recon(.file(source)).run()
        let first = try #require(index.video.frames.first)
        let begin = index.video.stream.timeBase.seconds(first.interval.start) - index.startTime
        let half = Position.seconds(max(begin, Rational(0)) + Rational(1, 2))
        func hashes(_ spec: JobSpec) throws -> [String] {
            let folder = ScratchFolder()
            return try Decoded(try MediaJob(source, spec: spec, folder: folder.path).output).hashes
        }
        let back = try hashes(JobSpec(container: .mkv, lossless: true, to: half))
        let edit = Edit(clips: [EditClip(to: half, play: .pingPong)])
        let loop = try hashes(JobSpec(container: .mkv, lossless: true, edit: edit))
        #expect(!back.isEmpty)
        #expect(loop == back.reversed() + back.dropFirst().dropLast())
    }

    @Test("two packets that are one frame: AVCHD")
    func fieldPairs() throws {
        try judge("sony_a7m3_avchd_paff_opengop.mts")
    }

    @Test("parameters and size change between passes")
    func changes() throws {
        let spec = JobSpec(container: .mkv, lossless: true, passFrames: 2)
        let job = try judge("h264_resolution_change_multi_stsd.mp4", spec)
        #expect(job.plan.passes.count == 2)
    }

    @Test("damaged recordings: what decodes is exact, the rest is repeated")
    func damaged() throws {
        for (file, partial) in [
            ("dvb_mpeg2_576i_midgop_pts19207.ts", "lost=60"), ("h264_one_invalid_nalu.mp4", ""),
            ("mpeg1_ps_opengop_sar64x45_truncated.mpg", "lost=34"), ("truncated_divx4_mp3.avi", "lost=178"),
        ] { try judge(file, partial: partial) }
    }

    @Test(
        "Dolby Vision and HDR10+ are left out with a word, and the file claims neither",
        arguments: [
            ("iphone_hevc10_hlg_dovi_editlist_opengop.mp4", "Dolby Vision profile 8 is left out", "DOVI"),
            ("hevc_hdr10_pq_10bit_dropped_frames.mp4", "HDR10+ is left out", "HDR Dynamic Metadata"),
        ])
    func dynamicLight(file: String, word: String, sideData: String) throws {
        let folder = ScratchFolder()
        let job = try judge(file, in: folder)
        #expect(job.warnings.contains { $0.hasPrefix(word) })
        let look = { (path: String) in
            try run("ffprobe", "-v", "quiet", "-show_streams", "-show_frames", "-read_intervals", "%+#3", path)
        }
        #expect(try look((corpus ?? "") + "/" + file).contains(sideData))
        #expect(try !look(job.output).contains(sideData))
    }

    @discardableResult
    private func judge(
        _ file: String, _ spec: JobSpec? = nil, partial: String? = nil, in given: ScratchFolder? = nil
    ) throws -> MediaJob {
        let folder = given ?? ScratchFolder()
        let source = (corpus ?? "") + "/" + file
        let job = try MediaJob(source, spec: try spec ?? losslessSpec(source), folder: folder.path)
        let how = partial.map { ["--partial", $0] } ?? []
        let verdict = try run(oracle ?? "", ["check", source, job.output] + how)
        #expect(verdict.hasPrefix("ok"), "\(file): \(verdict)")
        return job
    }

    /// Whole videos whose frames have timestamps. Not among them: large ones, for their time, and one whose later
    /// frames are scaled.
    private static let timed: [String] = {
        let names = manifest(of: corpus).filter { row in
            let outcome = row.last?.split(separator: " ").first
            let name = row.first ?? ""
            let width = row.count > 6 ? row[6].split(separator: "x").first.flatMap { Int($0) } : nil
            return outcome == "ok" && (width ?? 0) <= 1280 && !name.hasPrefix("h264_resolution_change")
                && ![".avi", ".h264"].contains { name.hasSuffix($0) } && !name.contains("_es_")
        }.compactMap { $0.first.map(String.init) }
        return Thoroughness.third(of: names)
    }()

    @Test("reversed twice, it is the source again, to the tick that the container has", arguments: timed)
    func twice(file: String) throws {
        let source = (corpus ?? "") + "/" + file
        // FFV1 holds 15 bits of RGB in 24; ffmpeg leaves VP9's transparency out.
        let format = file.contains("rgb555") ? "rgb24" : file.contains("vp9_alpha") ? "yuv420p" : nil
        let before = try Decoded(source, pixelFormat: format, isUpright: true)
        for (container, off) in [(Container.nut, Rational(0)), (.mkv, Rational(2, 1000))] {
            let spec = JobSpec(container: container, lossless: true, audio: .none)
            let (there, back) = (ScratchFolder(), ScratchFolder())
            let once = try MediaJob(source, spec: spec, folder: there.path)
            let twice = try MediaJob(once.output, spec: spec, folder: back.path)
            let after = try Decoded(twice.output, pixelFormat: format)
            #expect(after.hashes == before.hashes, "\(container)")
            // Up to a constant.
            let moved = zip(before.times, after.times).map { $1 - $0 }
            let spread = (moved.max() ?? Rational(0)) - (moved.min() ?? Rational(0))
            #expect(spread <= off, "\(container): off by \(spread) s")
        }
    }

    @Test(
        "what real files have beside their video is left out in so many words",
        arguments: [
            (
                "mkv_h264_pgs_ac3.mkv",
                ["stream 2 (subtitles, hdmv_pgs_subtitle) is left out: only text subtitles are kept"]
            ),
            (
                "dvd_one_frame_576_dvdsub.vob",
                [
                    "stream 1 (subtitles, dvd_subtitle) is left out: only text subtitles are kept",
                    "stream 2 (subtitles, dvd_subtitle) is left out: only text subtitles are kept",
                ]
            ),
            (
                "gopro_hero5_h264_gpmf_timecode.mp4",
                ["data is left out: stream 2 (tmcd), stream 3 (gpmd), stream 4 (fdsc)"]
            ), ("iphone6s_h264_rot90_mebx.mov", ["data is left out: stream 2 (mebx), stream 3 (mebx)"]),
            (
                "pixel_motionphoto_hevc_2video_vfr_rot.mp4",
                [
                    "stream 1 (video, hevc) is left out: only stream 0 is reversed",
                    "data is left out: stream 2 (mett), stream 3 (mett)",
                ]
            ),
            ("h264_one_frame_aac_coverart.mp4", []),
        ])
    func leftOut(file: String, warnings: [String]) throws {
        Media.prepare()
        #expect(try Recon(.file((corpus ?? "") + "/" + file)).run().diagnostics.map(\.words) == warnings)
    }
}
