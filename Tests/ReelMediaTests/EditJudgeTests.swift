import Foundation
import ReelCore
import ReelRandom
import Testing

private let splice = ProcessInfo.processInfo.environment["REEL_SPLICE"]
/// Edits of several sources to make; REEL_EDITS asks for more.
private let count = ProcessInfo.processInfo.environment["REEL_EDITS"].flatMap(UInt64.init) ?? 24
private let corpus = ProcessInfo.processInfo.environment["REEL_CORPUS"]

/// Edits judged by an independent program, which decodes source and output itself.
@Suite("Judged edits", .enabled(if: splice != nil, "set REEL_SPLICE to run these"))
struct EditJudgeTests {
    /// Makes an edit without loss, and has it judged.
    private func judge(
        _ sources: [String], _ edit: Edit, passFrames: Int? = nil, container: Container = .mkv, similar: Bool = false,
        _ folder: ScratchFolder
    ) throws {
        let spec = JobSpec(
            container: container, lossless: container.traits.isLossless, edit: edit, passFrames: passFrames)
        let job = try MediaJob(sources, spec: spec, folder: folder.path)
        let file = folder.path + "/edit.json"
        let clips = edit.clips.map { clip -> [String: Any] in
            guard let source = clip.source else { return ["gap": "\(clip.still ?? Rational(0))"] }
            var fields: [String: Any] = ["source": sources[source], "sound": clip.sound]
            if let from = clip.from { fields["from"] = "\(from)" }
            if let to = clip.to { fields["to"] = "\(to)" }
            if let still = clip.still {
                fields.merge(["play": "freeze", "duration": "\(still)"]) { $1 }
            } else {
                fields.merge(["play": clip.play.rawValue, "times": clip.times, "speed": "\(clip.speed)"]) { $1 }
            }
            return fields
        }
        var fields: [String: Any] = ["clips": clips, "turn": edit.turn.rawValue, "trim": edit.trim.rawValue]
        if let crossfade = edit.crossfade { fields["crossfade"] = "\(crossfade)" }
        try JSONSerialization.data(withJSONObject: fields).write(to: URL(fileURLWithPath: file))
        let verdict = try run(splice ?? "", [file, job.output] + (similar ? ["--pictures", "similar"] : []))
        #expect(verdict.hasPrefix("ok"), "\(sources), \(fields): \(verdict)")
    }

    /// Sources of many kinds. The clocks are such that a block of sound lasts a whole number of ticks: the judge takes each
    /// block's time as exact.
    private static let kinds: [(name: String, rate: String, arguments: [String])] = [
        ("b.mp4", "30000/1001", ["-c:v", "libx264", "-g", "24", "-bf", "3", "-c:a", "aac", "-ar", "44100"]),
        (
            "open.ts", "25",
            ["-c:v", "libx264", "-x264-params", "open-gop=1:keyint=20", "-bf", "2", "-c:a", "mp2", "-ar", "48000"]
                + ["-ac", "1"]
        ),
        ("pcm.mov", "24000/1001", ["-c:v", "libx264", "-bf", "2", "-c:a", "pcm_s16le", "-ar", "48000"]),
        ("vp9.webm", "30", ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-g", "40", "-c:a", "libopus"]),
        ("mpeg2.mov", "25", ["-c:v", "mpeg2video", "-bf", "2", "-g", "12", "-c:a", "alac", "-ac", "1"]),
        ("one.mp4", "60000/1001", ["-c:v", "libx264", "-g", "999", "-c:a", "aac", "-ar", "48000"]),
        (
            "vfr.mkv", "25",
            ["-vf", "setpts='(N*40+mod(N*N*7,31))/1000/TB',settb=1/1000", "-fps_mode", "passthrough"]
                + ["-c:v", "libx264", "-bf", "2", "-c:a", "libopus"]
        ),
        ("mute.mp4", "15", ["-an", "-c:v", "libx264", "-bf", "2"]),
    ]

    /// Makes a source whose sound begins `shift` seconds after its video.
    private static func make(
        _ kind: (name: String, rate: String, arguments: [String]), shift: Double, size: String = "160x96",
        _ folder: ScratchFolder
    ) throws -> String {
        let source = folder.path + "/" + kind.name
        try run(
            "ffmpeg",
            ["-v", "error", "-f", "lavfi", "-i", "testsrc2=r=\(kind.rate):s=\(size):d=3.3", "-itsoffset", "\(shift)"]
                + ["-f", "lavfi", "-i", "aevalsrc=0.5*sin(600*t*(1+t))|0.4*sin(900*t*(1+t)):d=3.6"] + kind.arguments
                + [source])
        return source
    }

    @Test("clips of one source, in all directions and often", arguments: UInt64(1)...24)
    func oneSource(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let kind = try #require(Self.kinds.randomElement(using: &random))
        let folder = try ScratchFolder()
        // The judge does not expect that sound begins or ends abruptly within a crossfade, as it would if it began before
        // the video, or ended soon after it.
        let source = try Self.make(kind, shift: Double.random(in: 0...0.2, using: &random), folder)
        var edit = Edit(clips: [], turn: Bool.random(using: &random) ? .once : .twice)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let from = Int64.random(in: 0..<2500, using: &random)
            let to = Int64.random(in: from + 100...3300, using: &random)
            edit.clips.append(
                EditClip(
                    from: from > 400 ? Rational(from, 1000) : nil, to: to < 3000 ? Rational(to, 1000) : nil,
                    play: Play.allCases.randomElement(using: &random) ?? .forward,
                    times: Int.random(in: 1...3, using: &random)))
        }
        // A range that is reversed once has the sound between its own limits, not that of whole frames.
        if edit.clips.count == 1, edit.clips[0].play == .reverse { edit.clips[0].times += 1 }
        edit.crossfade = [nil, Rational(0), Rational(1, 20), Rational(3, 10)].randomElement(using: &random) ?? nil
        try judge([source], edit, passFrames: Bool.random(using: &random) ? 20 : nil, folder)
    }

    @Test("clips of several sources, with gaps, stills, speeds and trims", arguments: 1...max(count, 1))
    func severalSources(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let folder = try ScratchFolder()
        let kinds = Self.kinds.shuffled(using: &random).prefix(Int.random(in: 2...4, using: &random))
        // One of another size makes the judge compare likenesses.
        let similar = Int.random(in: 0..<4, using: &random) == 0
        let sources = try kinds.enumerated().map { number, kind in
            try Self.make(
                kind, shift: Double.random(in: 0...0.2, using: &random),
                size: similar && number == 1 ? "240x144" : "160x96",
                folder)
        }
        var edit = Edit(clips: [], turn: Bool.random(using: &random) ? .once : .twice)
        edit.trim = Int.random(in: 0..<3, using: &random) == 0 ? .shared : .none
        for number in 0..<Int.random(in: 2...8, using: &random) {
            let still = Rational(Int64.random(in: 20...900, using: &random), 1000)
            // The judge takes the output's format from the first clip. Crossfades stay within what each source has: the
            // judge takes times of blocks that Matroska rounds to milliseconds as exact.
            switch number == 0 ? 9 : Int.random(in: 0...9, using: &random) {
            case 0: edit.clips.append(.gap(still))
            case 1:
                edit.clips.append(
                    EditClip(
                        source: Int.random(in: 0..<sources.count, using: &random),
                        from: Rational(Int64.random(in: 0...2000, using: &random), 1000), play: .forward, still: still))
            default:
                let from = Int64.random(in: 400..<2200, using: &random)
                let to = Int64.random(in: from + 600...3300, using: &random)
                edit.clips.append(
                    EditClip(
                        source: number == 0 ? 0 : Int.random(in: 0..<sources.count, using: &random),
                        from: Rational(from, 1000), to: Rational(min(to, 3000), 1000),
                        play: Play.allCases.randomElement(using: &random) ?? .forward,
                        times: Int.random(in: 1...2, using: &random),
                        speed: [Rational(1), Rational(1), Rational(3, 2), Rational(2, 5)].randomElement(using: &random)
                            ?? Rational(1),
                        sound: Int.random(in: 0..<5, using: &random) > 0))
            }
        }
        edit.crossfade = [nil, Rational(0), Rational(1, 20), Rational(3, 10)].randomElement(using: &random) ?? nil
        try judge(
            sources, edit, passFrames: Bool.random(using: &random) ? 20 : nil,
            container: Bool.random(using: &random) ? .mkv : .nut, similar: similar, folder)
    }

    @Test(
        "real files, forth and back",
        .enabled(if: corpus != nil, "set REEL_CORPUS to run this"),
        arguments: [
            "h264_bpyramid3_sar64x45.mp4", "iphone6s_h264_rot90_mebx.mov", "av1_single_key_125f.mkv",
            "vp9_odd_161x121.webm", "canon_mjpeg_640x480_pcm.avi",
            "h264_two_edits_end_on_b.mp4",
        ], Turn.allCases)
    func corpusFile(file: String, turn: Turn) throws {
        let folder = try ScratchFolder()
        let edit = Edit(clips: [EditClip(play: .pingPong)], turn: turn)
        try judge([(corpus ?? "") + "/" + file], edit, folder)
    }
}
