import ReelCore
import ReelJobs
import Testing

@Suite struct OutputNameTests {
    @Test(arguments: [
        ("/a/clip.mp4", "/a/clip.reversed.mp4", Container.mp4), ("/a/CLIP.MP4", "/a/CLIP.reversed.mp4", .mp4),
        ("/a/clip.m4v", "/a/clip.reversed.mp4", .mp4), ("/a/clip.MOV", "/a/clip.reversed.mov", .mov),
        ("/a/clip.m2ts", "/a/clip.reversed.ts", .ts), ("/a/clip.webm", "/a/clip.reversed.webm", .webm),
        ("/a/clip.avi", "/a/clip.reversed.mp4", .mp4), ("/a/clip", "/a/clip.reversed.mp4", .mp4),
        ("/a/my.holiday.mkv", "/a/my.holiday.reversed.mkv", .mkv),
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
            ["o.mp4", "o.mov", "o.MKV", "o.webm", "o.ts", "o.nut", "o.avi", "o.MXF", "o.GIF", "o.apng", "o.webp"],
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
