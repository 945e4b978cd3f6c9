import Foundation
import ReelCore
import ReelJobs
import ReelWords
import Testing

/// The options of a request: how they are read, what they make, and which rules they keep.
@Suite struct OutputRequestTests {
    private typealias Field = OutputRequest.Field

    private func read(_ json: String) throws -> OutputRequest {
        let place = JSONPlace(try JSONValue(Data(json.utf8), within: .file))
        return try OutputRequest(place, knows: Field.allCases)
    }

    /// How nobody writes them, so that a name that is written in another way is seen.
    private let names = RequestNames { field, value in "<\(field.rawValue)\(value.map { "=" + $0 } ?? "")>" }

    /// What is said of a request that is not taken.
    private func words(_ json: String, _ names: RequestNames? = nil) -> String? {
        let fault = #expect(throws: RequestFault.self, "\(json)") { try read(json) }
        return fault?.words(names ?? self.names)
    }

    @Test("texts, numbers, flags and nulls are read")
    func values() throws {
        let request = try read(
            """
            {"container": "mkv", "crf": 20.5, "from": 10, "to": "30f", "times": 3, "speed": "3/2", "fps": 12.5,
            "threads": "auto", "loop": 2, "sampleRate": "48000", "lossless": false, "preset": null, "play": "forward",
            "keepSegments": true, "retain": "12h", "bitrate": null}
            """)
        var expected = OutputRequest()
        expected.container = .mkv
        expected.crf = Quality("20.5")
        expected.from = .seconds(Rational(10))
        expected.to = .frames(30)
        expected.times = 3
        expected.speed = Speed("1.5")
        expected.fps = FrameRate("25/2")
        expected.threads = ThreadCount("auto")
        expected.loop = Plays("2")
        expected.sampleRate = 48_000
        expected.play = .forward
        expected.keepSegments = true
        expected.retain = try #require(TimeSpan("43200s"))
        #expect(request == expected)
        #expect(try read("{}") == OutputRequest())
    }

    @Test(
        "a value that its option does not take is named with what it takes",
        arguments: [
            (#"{"videoCodec": 5}"#, "<videoCodec> takes a name; it is 5"),
            (#"{"rewind": "5-3"}"#, "<rewind> takes \(Rewinds.forms); it is 5-3"),
            (#"{"rewind": "3-5,4-6"}"#, "<rewind> takes \(Rewinds.forms); it is 3-5,4-6"),
            (#"{"rewind": "30f-31f"}"#, "<rewind> takes \(Rewinds.forms); it is 30f-31f"),
            (#"{"rewind": "3-"}"#, "<rewind> takes \(Rewinds.forms); it is 3-"),
            (#"{"rewind": "3-5", "from": 4}"#, "<rewind> must be later than <from>"),
            (#"{"rewind": "3-5", "to": 4}"#, "<to> must be later than <rewind>"),
            (#"{"rewind": "3-5", "play": "forward"}"#, "<rewind> and <play> exclude each other"),
            (#"{"rewind": "3-5", "duration": 8}"#, "<rewind> and <duration> exclude each other"),
            (#"{"soundtrack": 1.5}"#, "<soundtrack> takes the path of a file; it is 1.5"),
            (#"{"size": 640}"#, "<size> takes width and height in pixels (640x360); it is 640"),
            (#"{"crf": "x"}"#, "<crf> takes a number from 0 (best) on the encoder's scale (18, 22.5); it is x"),
            (#"{"crf": false}"#, "<crf> takes a number from 0 (best) on the encoder's scale (18, 22.5); it is false"),
            (#"{"crf": -1}"#, "<crf> takes a number from 0 (best) on the encoder's scale (18, 22.5); it is -1"),
            (#"{"lossless": "yes"}"#, "<lossless> takes true or false; it is yes"),
            (#"{"lossless": 1}"#, "<lossless> takes true or false; it is 1"),
            (#"{"audio": "loud\n"}"#, #"<audio> takes reverse, keep or none; it is loud\n"#),
            (#"{"audio": 2}"#, "<audio> takes reverse, keep or none; it is 2"),
            (#"{"times": 1.5}"#, "<times> takes a whole number; it is 1.5"),
            (#"{"threads": "many"}"#, "<threads> takes a whole number, or auto; it is many"),
        ])
    func malformed(_ json: String, _ said: String) { #expect(words(json) == said) }

    @Test("a long text is cut where it is named")
    func long() throws {
        let said = try #require(words("{\"crf\": \"\(String(repeating: "x", count: 1000))\"}"))
        #expect(said.hasSuffix("xxx…") && said.count < 250)
    }

    @Test("what is no option, and what no option can be, is named by its place")
    func places() throws {
        for (json, pointer) in [
            ("[]", ""), (#"{"help": true}"#, "/help"), (#"{"passFrames": {}}"#, "/passFrames"),
            (#"{"tracks": ["a"]}"#, "/tracks"),
        ] {
            let flawed = #expect(throws: FlawedPlace.self, "\(json)") { try read(json) }
            #expect(flawed?.pointer == pointer)
        }
        let place = JSONPlace(.object(["stitch": .bool(true)]))
        let flawed = #expect(throws: FlawedPlace.self) { try OutputRequest(place, knows: [.crf]) }
        #expect(flawed?.pointer == "/stitch")
    }

    @Test(
        "options that are out of range, or exclude or need each other, are named",
        arguments: [
            (#"{"threads": 129}"#, "<threads> must be auto, or 1 to 128"),
            (#"{"passFrames": 0}"#, "<passFrames> must be 1 or more"),
            (#"{"sampleRate": 999}"#, "<sampleRate> must be 1000 to 768000"),
            (#"{"colors": 257}"#, "<colors> must be 2 to 256"),
            (#"{"loop": 0}"#, "<loop> must be forever, or 1 to 65535"),
            (#"{"times": 0}"#, "<times> must be 1 to 10000"),
            (#"{"crf": 20, "bitrate": "5M"}"#, "<crf> and <bitrate> exclude each other"),
            (#"{"from": 3, "to": 3}"#, "<to> must be later than <from>"),
            (#"{"from": "90f", "to": "30f"}"#, "<to> must be later than <from>"),
            (#"{"to": 3, "duration": 3}"#, "<to> and <duration> exclude each other"),
            (#"{"duration": "0f"}"#, "<duration> must be above 0"),
            (#"{"videoCodec": "lib x264;"}"#, "<videoCodec> lib x264; is not a valid FFmpeg name"),
            (#"{"preset": ""}"#, "<preset>  is not a valid FFmpeg name"),
            (#"{"turn": "twice"}"#, "<turn> needs <play=ping-pong>"),
            (#"{"crossfade": 1}"#, "<crossfade> needs <stitch>, or <times> 2 or more with <play> reverse or forward"),
            (#"{"soundtrackFrom": 1}"#, "<soundtrackFrom> needs <soundtrack>"),
            (#"{"soundtrack": "a.wav", "audio": "none"}"#, "<audio=none> and <soundtrack> exclude each other"),
            (#"{"play": "forward", "audio": "keep"}"#, "<audio=keep> needs <play=reverse>, played once"),
            (#"{"times": 2, "timestamps": "source"}"#, "<timestamps=source> needs <play=reverse>, played once"),
            (
                #"{"lossless": true, "pixelFormat": "rgb24"}"#,
                "<lossless> keeps pictures and sound as they are; leave out <pixelFormat>"
            ),
        ])
    func rules(_ json: String, _ said: String) { #expect(words(json) == said) }

    @Test("an option that these users do not have is not advised")
    func advice() {
        let few = RequestNames(fields: [.crossfade, .times, .play]) { field, _ in field.rawValue }
        #expect(
            words(#"{"crossfade": 1}"#, few) == "crossfade needs times 2 or more with play reverse or forward")
    }

    @Test("a plain request reverses its video, and options change the spec")
    func spec() throws {
        let plain = try OutputRequest().draft(video: "/a/film.mov")
        #expect(plain.sources == ["/a/film.mov"] && plain.edit == nil)
        #expect(plain.spec(in: .mp4) == JobSpec(container: .mp4))
        #expect(try plain.output() == OutputChoice(named: "/a/film.reversed.mov", lossless: false))
        let cut = try read(#"{"container": "webm", "videoCodec": "vp9", "from": 1, "colors": 16, "memory": "1GiB"}"#)
            .draft(video: "/a/film.mov")
        #expect(try cut.output() == OutputChoice(named: "/a/film.reversed.webm", lossless: false))
        #expect(
            cut.spec(in: .webm)
                == JobSpec(
                    container: .webm, videoCodec: "vp9", from: .seconds(Rational(1)), loop: LoopOptions(colours: 16),
                    memory: 1 << 30))
        let played = try read(#"{"play": "ping-pong", "to": 2}"#).draft(video: "/a/film.mov")
        #expect(played.spec(in: .mov).from == nil && played.spec(in: .mov).to == nil)
        #expect(played.edit?.clips.map(\.play) == [.pingPong])
        #expect(played.edit?.clips.map(\.to) == [.seconds(Rational(2))])
        #expect(try played.output(suffix: "-x").path == "/a/film-x.mov")
    }
}

/// The drafts that arguments of a command ask for.
@Suite final class JobDraftTests {
    private let folder = NSTemporaryDirectory() + "reel-draft-tests-" + UUID().uuidString

    init() throws {
        try FileManager.default.createDirectory(atPath: folder + "/empty", withIntermediateDirectories: true)
        for name in ["b.MOV", "a.mp4", "notes.txt", ".hidden.mp4"] {
            try name.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
        }
        let edit = #"{"clips": [{"source": "a.mp4"}, {"source": "b.MOV"}]}"#
        try edit.write(toFile: folder + "/cut.json", atomically: false, encoding: .utf8)
        try "{".write(toFile: folder + "/broken.json", atomically: false, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func fault(_ request: OutputRequest, _ arguments: [String]) -> RequestFault? {
        #expect(throws: RequestFault.self) { try request.drafts(of: arguments) { throw $0 } }
    }

    @Test("folders stand for their videos, and what cannot be a draft keeps no other from being one")
    func folders() throws {
        var refused: [FailureReason] = []
        let drafts = try OutputRequest().drafts(of: [folder, folder + "/empty", folder + "/broken.json", "c.x"]) {
            refused.append($0.reason)
        }
        #expect(drafts.map(\.named) == [folder + "/a.mp4", folder + "/b.MOV", "c.x"])
        #expect(refused.map(\.code) == ["folder-without-videos", "edit-flawed"])
    }

    @Test("videos are stitched to one draft, whose name is the first's")
    func stitched() throws {
        var request = OutputRequest()
        request.stitch = true
        let drafts = try request.drafts(of: [folder]) { throw $0 }
        #expect(drafts.map(\.sources) == [[folder + "/a.mp4", folder + "/b.MOV"]])
        #expect(drafts.first?.edit?.clips.map(\.play) == [.forward, .forward])
        #expect(drafts.first?.edit?.trim == .shared)
        #expect(try drafts.first?.output().path == folder + "/a.stitched.mp4")
        #expect(throws: ReelFailure.self) { try request.drafts(of: [folder, folder + "/empty"]) { _ in } }
        #expect(fault(request, ["cut.json"])?.reason == .stitchesEdit(path: "cut.json"))
        request.times = 10_000
        let many = [String](repeating: folder + "/a.mp4", count: 11)
        #expect(fault(request, many)?.reason == .tooManyClips(110_000))
    }

    @Test("the file of an edit says what its clips are")
    func edits() throws {
        let file = folder + "/cut.json"
        let drafts = try OutputRequest().drafts(of: [file]) { throw $0 }
        #expect(drafts.map(\.named) == [file])
        #expect(drafts.first?.sources == [folder + "/a.mp4", folder + "/b.MOV"])
        #expect(try drafts.first?.output().path == folder + "/cut.cut.mp4")
        var request = OutputRequest()
        request.audio = .keep
        #expect(fault(request, [file])?.reason == .saidByEdit(value: "keep"))
        request = OutputRequest()
        request.play = .reverse
        #expect(fault(request, [file])?.field == .play)
        request = OutputRequest()
        request.lenient = true
        #expect(fault(request, [file])?.reason == .needsTimeline)
    }
}

@Suite struct OutputNameTests {
    @Test(arguments: [
        ("/a/clip.mp4", "/a/clip.reversed.mp4", Container.mp4), ("/a/CLIP.MP4", "/a/CLIP.reversed.mp4", .mp4),
        ("/a/clip.m4v", "/a/clip.reversed.mp4", .mp4), ("/a/clip.MOV", "/a/clip.reversed.mov", .mov),
        ("/a/clip.m2ts", "/a/clip.reversed.ts", .ts), ("/a/clip.webm", "/a/clip.reversed.webm", .webm),
        ("/a/clip.avi", "/a/clip.reversed.mp4", .mp4), ("/a/clip", "/a/clip.reversed.mp4", .mp4),
        ("/a/my.holiday.mkv", "/a/my.holiday.reversed.mkv", .mkv),
        // Sound that reel reads and does not write.
        ("/a/song.wma", "/a/song.reversed.m4a", .m4a), ("/a/song.AC3", "/a/song.reversed.m4a", .m4a),
        ("/a/song.mka", "/a/song.reversed.m4a", .m4a), ("/a/memo.amr", "/a/memo.reversed.m4a", .m4a),
        ("/a/song.aac", "/a/song.reversed.m4a", .m4a), ("/a/song.ape", "/a/song.reversed.flac", .flac),
        ("/a/song.caf", "/a/song.reversed.wav", .wav), ("/a/song.weba", "/a/song.reversed.opus", .opus),
    ])
    func besidesTheSource(source: String, path: String, container: Container) throws {
        let choice = try OutputChoice(nil, for: source, like: source, deed: "reversed", lossless: false)
        #expect(choice.path == path)
        #expect(choice.container == container)
    }

    @Test(arguments: [
        ("/a/clip.mp4", "/a/clip.reversed.mkv"), ("/a/clip.mov", "/a/clip.reversed.mov"),
        ("/a/clip.nut", "/a/clip.reversed.nut"), ("/a/clip.webm", "/a/clip.reversed.mkv"),
    ])
    func lossless(source: String, path: String) throws {
        #expect(try OutputChoice(nil, for: source, like: source, deed: "reversed", lossless: true).path == path)
    }

    @Test(
        "A container that does not hold what an encoder makes is not the default",
        arguments: [
            ("/a/b.webm", ["libx264"], Container.mp4), ("/a/b.webm", ["h264"], .mp4), ("/a/b.webm", ["av1"], .webm),
            ("/a/b.webm", ["aac"], .mp4), ("/a/b.gif", ["x265"], .mp4), ("/a/b.mp4", ["ffv1"], .mkv),
            ("/a/b.mp4", ["prores"], .mov), ("/a/b.mp4", ["pcm"], .mov), ("/a/b.ts", ["libvpx-vp9"], .mp4),
            ("/a/b.mov", ["ffv1"], .mov), ("/a/b.nut", ["prores_ks", "pcm"], .mov), ("/a/b.mp4", ["libvpx"], .mov),
            ("/a/b.mkv", ["libx264", "opus"], .mkv), ("/a/b.webm", ["copy"], .webm),
            ("/a/b.webm", ["unheard-of"], .webm),
            ("/a/b.avi", ["mjpeg"], .mov), ("/a/b.mp4", ["mpeg4"], .mp4),
            ("/a/b.mp3", ["flac"], .flac), ("/a/b.wma", ["libmp3lame"], .mp3), ("/a/b.ac3", ["aac"], .m4a),
        ])
    func ofEncoders(source: String, encoders: [String], container: Container) throws {
        let choice = try OutputChoice(
            nil, for: source, like: source, deed: "reversed", encoders: encoders, lossless: false)
        #expect(choice.container == container)
        // What is asked for is tried, and refused where the encoder is chosen.
        let asked = try OutputChoice(
            "/a/o.webm", for: source, like: source, deed: "reversed", encoders: encoders, lossless: false)
        #expect(asked.container == .webm)
    }

    @Test(
        arguments: zip(
            [
                "o.mp4", "o.mov", "o.MKV", "o.webm", "o.ts", "o.nut", "o.avi", "o.MXF", "o.GIF", "o.apng", "o.webp",
                "o.m4a",
                "o.mp3", "o.flac", "o.WAV", "o.ogg", "o.opus",
            ],
            Container.allCases))
    func theNameChooses(name: String, container: Container) throws {
        let choice = try OutputChoice(named: "/b/" + name, lossless: false)
        #expect(choice.path == "/b/" + name)
        #expect(choice.container == container)
    }

    @Test(arguments: ["/b/o.wmv", "/b/o", "/b/o.m4v", "/b/.mp4"])
    func unknownExtensions(path: String) throws {
        let failure = #expect(throws: ReelFailure.self) { try OutputChoice(named: path, lossless: false) }
        #expect(failure?.exitCode == 2)
        #expect(failure?.reason == .outputNotNamed(output: path))
    }

    @Test(arguments: ["/b/o.mkv", "/b/o.mov", "/b/o.nut", "/b/o.webp", "/b/o.apng"])
    func containersThatKeepAll(path: String) throws {
        #expect(try OutputChoice(named: path, lossless: true).path == path)
    }

    @Test(arguments: ["/b/o.mp4", "/b/o.webm", "/b/o.ts", "/b/o.gif"])
    func containersThatLoseSomething(path: String) throws {
        let failure = #expect(throws: ReelFailure.self) { try OutputChoice(named: path, lossless: true) }
        #expect(failure?.exitCode == 3)
        #expect(
            failure?.reason
                == .losslessNotHeld(
                    container: Container(exactExtension: String(path.split(separator: ".").last ?? "")) ?? .mp4))
    }
}
