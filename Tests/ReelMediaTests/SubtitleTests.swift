import Foundation
import ReelCore
import ReelMedia
import Testing

/// Text subtitles: each cue where the mirror puts it, in the codec of its container.
@Suite("Text subtitles")
struct SubtitleTests {
    private let folder = ScratchFolder()

    init() { Media.prepare() }

    /// Start and end in milliseconds, and the text with its markup.
    struct Line: Equatable, CustomStringConvertible {
        var start: Int
        var end: Int
        var text: String
        var description: String { "\(start)-\(end) \(text)" }
    }

    static let said = [
        Line(start: 100, end: 900, text: "Hello <b>bold</b>"), Line(start: 600, end: 1250, text: "overlaps\ntwice"),
        Line(start: 1250, end: 1333, text: "abuts – ünïcode 🎞"), Line(start: 1600, end: 9000, text: "beyond"),
        Line(start: 9000, end: 9100, text: "never"),
    ]

    static func script(_ lines: [Line]) -> String {
        func clock(_ time: Int) -> String {
            let digits = { (value: Int, width: Int) in
                String(repeating: "0", count: width - "\(value)".count) + "\(value)"
            }
            return "00:\(digits(time / 60000, 2)):\(digits(time / 1000 % 60, 2)),\(digits(time % 1000, 3))"
        }
        return lines.enumerated().map { "\($0 + 1)\n\(clock($1.start)) --> \(clock($1.end))\n\($1.text)\n\n" }.joined()
    }

    /// The cues of a text track, as ffmpeg reads them.
    static func lines(of path: String, track: Int = 0) throws -> [Line] {
        let text = try ffmpeg("-copyts", "-i", path, "-map", "0:s:\(track)", "-f", "srt", "-")
        return text.replacing("\r\n", with: "\n").components(separatedBy: "\n\n").compactMap { block in
            let lines = block.split(separator: "\n")
            guard lines.count > 2 else { return nil }
            let times = lines[1].components(separatedBy: " --> ").map { clock in
                clock.split { ":,".contains($0) }.compactMap { Int($0) }
            }
            let milliseconds = times.map { ($0[0] * 60 + $0[1]) * 60_000 + $0[2] * 1000 + $0[3] }
            return Line(start: milliseconds[0], end: milliseconds[1], text: lines.dropFirst(2).joined(separator: "\n"))
        }
    }

    /// 48 frames at 24000/1001 beside files that ffmpeg reads as further inputs; `more` is what to do with them.
    private func source(_ name: String, files: [(name: String, text: String)], more: [String]) throws -> String {
        let video = try Fixture.make("v-\(name).mkv", in: folder, frames: 48, video: Fixture.x264 + ["-g", "20"])
        var arguments = ["-v", "error", "-y", "-i", video]
        for (name, text) in files {
            try store(Data(text.utf8), to: folder.path + "/" + name)
            arguments += ["-i", folder.path + "/" + name]
        }
        let path = folder.path + "/" + name
        arguments += ["-map", "0:v"] + files.indices.flatMap { ["-map", "\($0 + 1)"] }
        try run("ffmpeg", arguments + ["-c", "copy"] + more + [path])
        return path
    }

    private func reversed(_ source: String, _ container: Container, from: Position? = nil) throws -> MediaJob {
        try MediaJob(
            source, spec: JobSpec(container: container, preset: container == .webm ? "8" : "ultrafast", from: from),
            folder: folder.path)
    }

    @Test("SubRip in Matroska keeps its cues, overlapping or not, mirrored and cut to the video")
    func subrip() throws {
        let source = try source(
            "s.mkv", files: [("a.srt", Self.script(Self.said))],
            more: ["-metadata:s:s:0", "language=fra", "-metadata:s:s:0", "title=Sous", "-disposition:s:0", "forced"])
        let job = try reversed(source, .mkv)
        let end = Int(job.index.video.end.ticks)
        #expect(end == 2001)
        let found = try Self.lines(of: job.output)
        #expect(
            found == [
                Line(start: 0, end: end - 1600, text: "beyond"),
                Line(start: end - 1333, end: end - 1250, text: "abuts – ünïcode 🎞"),
                Line(start: end - 1250, end: end - 600, text: "overlaps\ntwice"),
                Line(start: end - 900, end: end - 100, text: "Hello <b>bold</b>"),
            ])
        let about = try probe(
            job.output, "stream=codec_name:stream_disposition=default,forced:stream_tags=language,title", streams: "s")
        #expect(about == "subrip,0,1,fra,Sous\n")
        #expect(job.warnings == [])

        let again = try reversed(job.output, .mkv)
        let back = try Self.lines(of: again.output)
        #expect(back == Self.said.dropLast().map { Line(start: $0.start, end: min($0.end, end), text: $0.text) })
    }

    @Test("of the tracks, those are kept that are asked for, in their order, and one that is not there is named")
    func tracks() throws {
        var files: [(name: String, text: String)] = []
        for name in ["a", "b", "c"] {
            files.append((name + ".srt", Self.script([Line(start: 100, end: 900, text: name)])))
        }
        let texts = try source("texts.mkv", files: files, more: [])
        let source = folder.path + "/tracks.mkv"
        try ffmpeg(
            "-i", texts, "-f", "lavfi", "-i", "sine=300:r=48000:d=2", "-f", "lavfi", "-i",
            "sine=1200:r=48000:d=2", "-map", "0:v", "-map", "1", "-map", "2", "-map", "0:s", "-c:v", "copy", "-c:s",
            "copy", "-c:a", "flac", source)
        func made(_ tracks: TrackSelection?) throws -> (streams: String, job: MediaJob) {
            let output = ScratchFolder()
            defer { withExtendedLifetime(output) {} }
            let spec = JobSpec(container: .mkv, preset: "ultrafast", tracks: tracks)
            let job = try MediaJob(source, spec: spec, folder: output.path)
            let streams = try probe(job.output, "stream=codec_type")
            #expect(job.warnings == [])
            if tracks?.audio == [1] {
                let samples = try Sound(job.output, channels: 1).samples.map { $0[0] }
                let rises = zip(samples, samples.dropFirst()).count { $0 < 0 && $1 >= 0 }
                #expect(abs(rises - 2400) < 10, "\(rises)")
                #expect(try Self.lines(of: job.output).map(\.text) == ["a"])
            }
            return (streams.split(whereSeparator: \.isNewline).joined(separator: " "), job)
        }
        #expect(try made(nil).streams == "video audio audio subtitle subtitle subtitle")
        #expect(try made(TrackSelection(audio: [1], subtitles: [0, 2])).streams == "video audio subtitle subtitle")
        #expect(try made(TrackSelection(audio: nil, subtitles: [])).streams == "video audio audio")
        #expect(try made(TrackSelection(audio: [], subtitles: nil)).streams == "video subtitle subtitle subtitle")
        for (selection, reason) in [
            (
                TrackSelection(audio: [0, 2], subtitles: nil),
                FailureReason.trackMissing(kind: .audio, number: 2, count: 2)
            ), (TrackSelection(audio: nil, subtitles: [3]), .trackMissing(kind: .subtitles, number: 3, count: 3)),
        ] {
            let failure = #expect(throws: ReelFailure.self) { try made(selection) }
            #expect(failure?.reason == reason && failure?.exitCode == 2)
        }
    }

    @Test("a part of the source has the cues of that part")
    func part() throws {
        let source = try source("s.mkv", files: [("a.srt", Self.script(Self.said))], more: [])
        let job = try MediaJob(
            source,
            spec: JobSpec(
                container: .mkv, preset: "ultrafast", from: .seconds(Rational(1)), to: .seconds(Rational(3, 2))),
            folder: folder.path)
        let (start, end) = (1001, 1502)
        #expect(job.plan.clips[0].map.end.ticks == Int64(end))
        let found = try Self.lines(of: job.output)
        #expect(
            found == [
                Line(start: end - 1333, end: end - 1250, text: "abuts – ünïcode 🎞"),
                Line(start: end - 1250, end: end - start, text: "overlaps\ntwice"),
            ])
    }

    @Test("ASS keeps its header and every field")
    func ass() throws {
        let events = [
            "Dialogue: 1,0:00:00.50,0:00:01.00,Sign,Bob,1,2,3,,{\\pos(10,10)}One, two",
            "Dialogue: 0,0:00:01.20,0:00:01.70,Default,,0,0,0,,{\\i1}First{\\i0}",
        ]
        let head = """
            [Script Info]
            ScriptType: v4.00+

            [V4+ Styles]
            Format: Name, Fontname, Fontsize, PrimaryColour, Bold, Alignment
            Style: Default,Arial,20,&H00FFFFFF,0,2
            Style: Sign,Arial,30,&H0000FFFF,-1,8

            [Events]
            Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text

            """
        let source = try source("s.mkv", files: [("a.ass", head + events.joined(separator: "\n") + "\n")], more: [])
        let job = try reversed(source, .mkv)
        let text = try ffmpeg("-i", job.output, "-map", "0:s", "-c", "copy", "-f", "ass", "-")
        let lines = text.replacing("\r\n", with: "\n").split(separator: "\n")
        #expect(lines.contains("Style: Sign,Arial,30,&H0000FFFF,-1,8"))
        // ffmpeg writes them in the script's order again.
        #expect(
            lines.filter { $0.hasPrefix("Dialogue") } == [
                "Dialogue: 1,0:00:01.00,0:00:01.50,Sign,Bob,1,2,3,,{\\pos(10,10)}One, two",
                "Dialogue: 0,0:00:00.30,0:00:00.80,Default,,0,0,0,,{\\i1}First{\\i0}",
            ])
        #expect(job.warnings == [])

        let other = try reversed(source, .mp4)
        #expect(other.warnings == ["subtitles 0: ass becomes mov_text"])
        #expect(try Self.lines(of: other.output).map { $0.text.contains("<i>First</i>") } == [true, false])
    }

    @Test("MP4 and MOV say at once what overlaps; reversed twice, every cue is back", arguments: [Container.mp4, .mov])
    func movText(container: Container) throws {
        let source = try source("s.mkv", files: [("a.srt", Self.script(Self.said))], more: [])
        let job = try reversed(source, container)
        let end = Int(job.index.video.end.ticks)
        let once = try Self.lines(of: job.output)
        #expect(
            once == [
                Line(start: 0, end: end - 1600, text: "beyond"),
                Line(start: end - 1333, end: end - 1250, text: "abuts – ünïcode 🎞"),
                Line(start: end - 1250, end: end - 900, text: "overlaps\ntwice"),
                Line(start: end - 900, end: end - 600, text: "Hello <b>bold</b>\noverlaps\ntwice"),
                Line(start: end - 600, end: end - 100, text: "Hello <b>bold</b>"),
            ])
        #expect(job.warnings == ["subtitles 0: subrip becomes mov_text"])
        let again = try reversed(job.output, container)
        #expect(again.warnings == [])
        let twice = try Self.lines(of: again.output)
        #expect(twice.map(\.text) == once.reversed().map(\.text))
        for (cue, before) in zip(twice, once.reversed()) {
            #expect(abs(cue.start - (end - before.end)) <= 1 && abs(cue.end - (end - before.start)) <= 1)
        }
        let back = try reversed(again.output, .mkv)
        #expect(back.warnings == ["subtitles 0: mov_text becomes subrip"])
        #expect(try Self.lines(of: back.output).map(\.text) == once.map(\.text))
    }

    @Test("WebVTT keeps the names of its cues and where they are shown")
    func webVTT() throws {
        let script = """
            WEBVTT

            first
            00:00.200 --> 00:00.700 line:0 position:20%
            Above

            00:01.000 --> 00:01.500
            Below <b>bold</b>

            """
        let video = try Fixture.make(
            "v.webm", in: folder, frames: 48, video: ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"])
        try store(Data(script.utf8), to: folder.path + "/a.vtt")
        let source = folder.path + "/s.webm"
        try ffmpeg("-i", video, "-i", folder.path + "/a.vtt", "-c", "copy", source)
        let job = try reversed(source, .webm)
        let text = try ffmpeg("-i", job.output, "-map", "0:s", "-c", "copy", "-f", "webvtt", "-")
        #expect(
            text == """
                WEBVTT

                00:00.501 --> 00:01.001
                Below <b>bold</b>

                first
                00:01.301 --> 00:01.801 line:0 position:20%
                Above

                """)
        #expect(job.warnings == [])
    }

    @Test("containers without text say what is left out", arguments: [Container.ts, .nut])
    func without(container: Container) throws {
        let source = try source("s.mkv", files: [("a.srt", Self.script(Self.said))], more: [])
        let job = try reversed(source, container)
        #expect(
            job.warnings == [
                "subtitles are left out: a .\(container.rawValue) file cannot hold them; write .mkv or .mp4"
            ])
    }

    @Test("cues that are empty, endless, not UTF-8, or without durations give at most a warning")
    func fragile() throws {
        let huge = String(repeating: "all work and no play ", count: 5000)
        var script = Array(
            Self.script([
                Line(start: 100, end: 300, text: "caf_ au lait"), Line(start: 400, end: 500, text: "plain"),
                Line(start: 800, end: 900, text: huge), Line(start: 1000, end: 1100, text: "last"),
            ]).utf8)
        if let place = script.firstIndex(of: UInt8(ascii: "_")) { script[place] = 0xE9 }
        let video = try Fixture.make("v.mkv", in: folder, frames: 48, video: Fixture.x264)
        try store(Data(script), to: folder.path + "/a.srt")
        let source = folder.path + "/s.mkv"
        try ffmpeg("-i", video, "-i", folder.path + "/a.srt", "-c", "copy", "-bsf:s", "setts=duration=0", source)
        let job = try reversed(source, .mp4)
        let found = try Self.lines(of: job.output)
        #expect(
            found == [
                Line(start: 0, end: 1001, text: "last"), Line(start: 1201, end: 1601, text: "plain"),
                Line(start: 1601, end: 1901, text: "caf\u{FFFD} au lait"),
            ])
        #expect(
            job.warnings == [
                "subtitles 0: subrip becomes mov_text",
                "stream 1: 1 subtitles cannot be read or written as mov_text, and are left out",
            ])
        let kept = try reversed(source, .mkv)
        #expect(kept.warnings == [])
        #expect(try Self.lines(of: kept.output).map(\.end).contains(1001))
    }
}
