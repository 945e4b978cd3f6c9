import Foundation
import ReelCore
import ReelMedia
import ReelWords
import Testing

/// Chapters, covers, attached files, timecodes, data, tags, and the languages, titles and dispositions of tracks.
@Suite("Chapters, attachments, tags and other streams")
struct OtherStreamTests {
    private let folder = ScratchFolder()

    init() { Media.prepare() }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    /// 48 frames at 24000/1001 in Matroska or MP4, remuxed by ffmpeg with `more`.
    private func source(_ name: String, inputs: [String] = [], audio: [String]? = nil, _ more: [String]) throws
        -> String
    {
        let plain = try Fixture.make(
            "v-" + name, in: folder, frames: 48, video: Fixture.x264 + ["-g", "20"], audio: audio)
        try ffmpeg(["-y", "-i", plain] + inputs + ["-c", "copy"] + more + [path(name)])
        return path(name)
    }

    private func reversed(_ source: String, _ container: Container) throws -> MediaJob {
        try MediaJob(
            source, spec: JobSpec(container: container, preset: container == .webm ? "8" : "ultrafast"),
            folder: folder.path)
    }

    private func tags(_ path: String) throws -> String {
        try run("ffprobe", "-v", "error", "-show_entries", "format_tags", "-of", "default=nk=0:nw=1", path).lowercased()
    }

    private static let chapters = """
        ;FFMETADATA1
        title=Ein Titel
        artist=Wer
        album=Platte
        comment=Bemerkung
        copyright=Recht
        date=2021
        [CHAPTER]
        TIMEBASE=1/1000
        START=0
        END=500
        title=Eins – 🎞
        [CHAPTER]
        TIMEBASE=1/1000
        START=500
        END=1400
        [CHAPTER]
        TIMEBASE=1/1000
        START=1400
        END=7000
        title=Drei
        [CHAPTER]
        TIMEBASE=1/1000
        START=7000
        END=8000
        title=Vier

        """

    private func chaptered(_ name: String) throws -> String {
        try store(Data(Self.chapters.utf8), to: path("chapters.txt"))
        return try source(name, inputs: ["-i", path("chapters.txt")], ["-map", "0", "-map_metadata", "1"])
    }

    /// What is said of every H.264 that goes into WebM.
    private let otherCodec = "h264 becomes vp9: reel writes no h264 into a .webm file"

    @Test(
        "chapters are mirrored, in order, cut to the video, with their titles; tags of the file stay",
        arguments: [Container.mkv, .webm, .mp4, .mov, .nut])
    func chapters(container: Container) throws {
        let job = try reversed(try chaptered("s.mkv"), container)
        #expect(job.warnings == (container == .webm ? [otherCodec] : []))
        // The last chapter that is shown begins at 1.4 s; E is 2.001 s, where Matroska ends the last of the frames.
        let found = try probe(job.output, "chapter=start_time,end_time:chapter_tags=title")
        let untitled = [.mkv, .webm].contains(container) ? "" : ","
        #expect(
            found.split(separator: "\n") == [
                "0.000000,0.601000,Drei", "0.601000,1.501000\(untitled)", "1.501000,2.001000,Eins – 🎞",
            ])
        let names = ["title", "artist", "album", "comment", "copyright", "date"]
        let tags = try tags(job.output)
        for (name, value) in zip(names, ["ein titel", "wer", "platte", "bemerkung", "recht", "2021"]) {
            #expect(tags.contains("tag:\(name)=\(value)\n"), "\(tags)")
        }
        if container == .mp4 {
            let again = try reversed(job.output, .mkv)
            #expect(again.warnings == [])
            let back = try probe(again.output, "chapter=start_time:chapter_tags=title")
            #expect(back == "0.000000,Eins – 🎞\n0.500000,\n1.400000,Drei\n")
        }
    }

    @Test("a clock of 24 ticks a second does not make chapters coarse", arguments: [Container.mp4, .mov])
    func coarseClock(container: Container) throws {
        try store(Data(Self.chapters.utf8), to: path("chapters.txt"))
        let plain = try Fixture.make("v.mkv", in: folder, frames: 48, rate: "24", video: Fixture.x264)
        try ffmpeg(
            "-i", plain, "-i", path("chapters.txt"), "-map", "0", "-map_metadata", "1", "-c:v",
            "libx264", "-r", "24", "-video_track_timescale", "24", path("s.mp4"))
        let job = try reversed(path("s.mp4"), container)
        #expect(job.plan.video.format.timeBase == TimeBase(1, 24))
        // ffmpeg gives MP4 no chapter without a title.
        let starts = try probe(job.output, "chapter=start_time:chapter_tags=title")
        #expect(starts == "0.000000,Drei\n0.600000,Eins – 🎞\n")
    }

    @Test("chapters that begin late keep their times", arguments: [Container.mp4, .mov, .mkv])
    func lateChapters(container: Container) throws {
        let chapters = """
            ;FFMETADATA1
            [CHAPTER]
            TIMEBASE=1/1000
            START=250
            END=750
            title=A
            [CHAPTER]
            TIMEBASE=1/1000
            START=1000
            END=1500
            title=B

            """
        try store(Data(chapters.utf8), to: path("chapters.txt"))
        let source = try source("s.mkv", inputs: ["-i", path("chapters.txt")], ["-map", "0", "-map_metadata", "1"])
        let job = try reversed(source, container)
        let starts = try probe(job.output, "chapter=start_time:chapter_tags=title")
        // The video lasts 2.001 s.
        #expect(starts == (container == .mkv ? "" : "0.000000,\n") + "0.501000,B\n1.251000,A\n")
    }

    @Test("transport streams hold neither chapters nor tags, and warnings say so")
    func withoutChapters() throws {
        let job = try reversed(try chaptered("s.mkv"), .ts)
        #expect(
            job.warnings == [
                "chapters are left out: a .ts file cannot hold them; write .mkv or .mp4",
                "tags are left out: a .ts file cannot hold title, date, artist, album, comment, copyright",
            ])
    }

    @Test("a finished file that lacks a chapter fails verification")
    func missingChapter() throws {
        let source = try chaptered("s.mkv")
        let job = try reversed(source, .mkv)
        let assembler = job.assembler(of: source)
        #expect(try assembler.verify(.file(job.output)) { _ in } == 48)
        try ffmpeg("-i", job.output, "-c", "copy", "-map_chapters", "-1", path("x.mkv"))
        let failure = #expect(throws: ReelFailure.self) { try assembler.verify(.file(path("x.mkv"))) { _ in } }
        #expect(failure?.words == "the output failed its verification: it has other chapters")
    }

    @Test(
        "the start timecode stays as a tag, its track and other data are left out",
        arguments: [Container.mkv, .mp4, .mov, .nut])
    func timecode(container: Container) throws {
        let source = try source("s.mov", ["-timecode", "01:02:03:04", "-metadata", "title=Ein Titel"])
        let job = try reversed(source, container)
        #expect(job.warnings == ["data is left out: stream 1 (tmcd)"])
        let tags = try tags(job.output)
        #expect(tags.contains("tag:timecode=01:02:03:04\n"))
        #expect(tags.contains("tag:title=ein titel\n"))
        #expect(try probe(job.output, "stream=codec_type") == "video\n")
        let again = try reversed(job.output, .mkv).warnings
        #expect(again.filter { !$0.hasPrefix("all of the video was decoded") } == [])
    }

    /// A picture of a few hundred bytes.
    private func picture(_ name: String) throws -> String {
        try ffmpeg("-f", "lavfi", "-i", "testsrc=s=48x32", "-frames:v", "1", path(name))
        return path(name)
    }

    /// The bytes of a cover in a file.
    private func cover(of file: String, stream: String) throws -> Data {
        let copy = path("copy-\(UUID().uuidString)")
        try ffmpeg("-i", file, "-map", stream, "-c", "copy", "-f", "image2pipe", copy)
        return try contents(of: copy)
    }

    @Test("covers and attached files are copied byte for byte, and never taken for the video")
    func attachments() throws {
        let (jpeg, font) = (try picture("c.jpg"), path("f.ttf"))
        try Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7) }).write(to: URL(fileURLWithPath: font))
        let source = try source(
            "s.mkv",
            ["-attach", jpeg, "-metadata:s:1", "mimetype=image/jpeg", "-metadata:s:1", "filename=vorn.jpg"]
                + ["-attach", font, "-metadata:s:2", "mimetype=font/ttf", "-metadata:s:2", "filename=f.ttf"])
        let job = try reversed(source, .mkv)
        #expect(job.warnings == [])
        #expect(job.index.video.stream.index == 0)
        #expect(job.index.attachments.map(\.isCover) == [true, false])
        let about = try probe(job.output, "stream=codec_type:stream_tags=filename,mimetype")
        #expect(about == "video\nvideo,vorn.jpg,image/jpeg\nattachment,f.ttf,font/ttf\n")
        #expect(try cover(of: job.output, stream: "0:1") == contents(of: jpeg))
        try run(
            "ffmpeg", "-v", "fatal", "-dump_attachment:2", path("out.ttf"), "-i", job.output, "-t", "0", "-f", "null",
            "-")
        #expect(try contents(of: path("out.ttf")) == contents(of: font))

        let mp4 = try reversed(source, .mp4)
        #expect(mp4.warnings == ["attached files are left out: a .mp4 file cannot hold f.ttf; write .mkv"])
        #expect(try cover(of: mp4.output, stream: "0:1") == contents(of: jpeg))
        #expect(try probe(mp4.output, "stream_disposition=attached_pic") == "0\n1\n")
        let back = try reversed(mp4.output, .mkv)
        #expect(back.index.attachments.map(\.fileName) == ["cover.jpg"])
        #expect(try cover(of: back.output, stream: "0:1") == contents(of: jpeg))
        #expect(try Decoded(back.output).hashes.count == 48)
    }

    @Test("what a container cannot attach is named", arguments: [Container.mov, .nut, .ts, .webm])
    func withoutAttachments(container: Container) throws {
        let png = try picture("c.png")
        let source = try source(
            "s.mp4", inputs: ["-i", png], ["-map", "0", "-map", "1", "-disposition:1", "attached_pic"])
        let job = try reversed(source, container)
        #expect(
            job.warnings == (container == .webm ? [otherCodec] : []) + [
                "attached files are left out: a .\(container.rawValue) file cannot hold cover.png; write .mkv"
            ])
        #expect(try probe(job.output, "stream=codec_type").hasPrefix("video\n"))
        #expect(try Recon(.file(job.output)).run().attachments == [])
    }

    @Test("every audio track in its order with language, title and dispositions; other videos are named")
    func tracks() throws {
        let source = try source(
            "s.mkv", inputs: ["-i", try Fixture.make("w.mkv", in: folder, frames: 48, video: Fixture.x264)],
            audio: ["-c:a", "aac"],
            ["-map", "0:a", "-map", "1:v", "-map", "0:v", "-map", "0:a"]
                + ["-metadata:s:a:0", "language=deu", "-metadata:s:a:0", "title=Ton", "-disposition:a:0", "comment"]
                + ["-metadata:s:a:1", "language=fra", "-disposition:a:1", "default+forced", "-disposition:v", "0"])
        let job = try reversed(source, .mkv)
        #expect(
            job.warnings.filter { !$0.contains("outlast") } == [
                "stream 2 (video, h264) is left out: only stream 1 is reversed"
            ])
        let about = try probe(
            job.output, "stream_disposition=default,forced,comment:stream_tags=language,title", streams: "a")
        #expect(about == "0,1,0,ger,Ton\n1,0,1,fre\n" || about == "0,1,0,deu,Ton\n1,0,1,fra\n")

        let mov = try reversed(source, .mov)
        #expect(try probe(mov.output, "stream_tags=language", streams: "a") == "ger\nfra\n")
    }
}
