import Foundation
import ReelCore
import ReelRandom
import ReelTestSupport
import Testing

private let splice = ProcessInfo.processInfo.environment["REEL_SPLICE"]
/// Edits of several sources to make; REEL_EDITS asks for more.
private let count = ProcessInfo.processInfo.environment["REEL_EDITS"].flatMap(UInt64.init) ?? Thoroughness.seeds
private let corpus = ProcessInfo.processInfo.environment["REEL_CORPUS"]

/// Edits judged by an independent program, which decodes source and output itself.
@Suite("Judged edits", .enabled(if: splice != nil, "set REEL_SPLICE to run these"))
struct EditJudgeTests {
    private let folder = ScratchFolder()

    /// Makes an edit without loss, and has it judged.
    private func judge(
        _ sources: [String], _ edit: Edit, passFrames: Int? = nil, container: Container = .mkv, similar: Bool = false,
        _ folder: ScratchFolder
    ) throws {
        let spec = JobSpec(
            container: container, lossless: container.traits.isLossless, edit: edit, passFrames: passFrames)
        let job = try MediaJob(sources, spec: spec, folder: folder.path)
        let file = folder.path + "/edit.json"
        try store(edit.file(sources), to: file)
        let verdict = try run(splice ?? "", [file, job.output] + (similar ? ["--pictures", "similar"] : []))
        #expect(verdict.hasPrefix("ok"), "\(sources), \(edit): \(verdict)")
    }

    private func make(_ source: EditSource, _ folder: ScratchFolder) throws -> String {
        let path = folder.path + "/" + source.name
        try run("ffmpeg", source.command(path: path))
        return path
    }

    @Test(
        "clips of one source, in all directions and often",
        arguments: Thoroughness.third(of: Array(1...Thoroughness.seeds)))
    func oneSource(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var kind = try #require(EditSource.kinds.randomElement(using: &random))
        // The judge does not expect that sound begins or ends abruptly within a crossfade, as it would if it began
        // before the video, or ended soon after it.
        kind.shift = Double.random(in: 0...0.2, using: &random)
        let source = try make(kind, folder)
        var edit = Edit(clips: [], turn: Bool.random(using: &random) ? .once : .twice)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let from = Int64.random(in: 0..<2500, using: &random)
            let to = Int64.random(in: from + 100...3300, using: &random)
            edit.clips.append(
                EditClip(
                    from: from > 400 ? .seconds(Rational(from, 1000)) : nil,
                    to: to < 3000 ? .seconds(Rational(to, 1000)) : nil,
                    play: Play.allCases.randomElement(using: &random) ?? .forward,
                    times: Int.random(in: 1...3, using: &random)))
        }
        // A range that is reversed once has the sound between its own limits, not that of whole frames.
        if edit.clips.count == 1, edit.clips[0].play == .reverse { edit.clips[0].times += 1 }
        edit.crossfade = [nil, Rational(0), Rational(1, 20), Rational(3, 10)].randomElement(using: &random) ?? nil
        try judge([source], edit, passFrames: Bool.random(using: &random) ? 20 : nil, folder)
    }

    @Test(
        "clips of several sources, with gaps, stills, speeds and trims",
        arguments: Thoroughness.third(of: Array(1...max(count, 1))))
    func severalSources(seed: UInt64) throws {
        let made = RandomEdit(seed: seed)
        let sources = try made.sources.map { try make($0, folder) }
        try judge(
            sources, made.edit, passFrames: made.passFrames, container: made.container, similar: made.isScaled, folder)
    }

    @Test(
        "real files, forth and back", .enabled(if: corpus != nil, "set REEL_CORPUS to run this"),
        arguments: Thoroughness.third(of: [
            "h264_bpyramid3_sar64x45.mp4", "iphone6s_h264_rot90_mebx.mov", "av1_single_key_125f.mkv",
            "vp9_odd_161x121.webm", "canon_mjpeg_640x480_pcm.avi",
            "h264_two_edits_end_on_b.mp4",
        ]), Turn.allCases)
    func corpusFile(file: String, turn: Turn) throws {
        let edit = Edit(clips: [EditClip(play: .pingPong)], turn: turn)
        let source = (corpus ?? "") + "/" + file
        try judge([source], edit, container: losslessSpec(source).container, folder)
    }
}
