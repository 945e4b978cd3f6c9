import Foundation
import ReelCore
import ReelMedia
import ReelWords
import Testing

/// Tags of a whole file: each is in the output as it was, or named in a warning.
@Suite("Tags of files")
struct FileTagTests {
    private let folder = ScratchFolder()

    init() { Media.prepare() }

    /// Names of every kind that libavformat's muxers know, and some that only few of them store.
    private static let tags: [(name: String, value: String)] = [
        ("title", "Ein Titel"), ("artist", "Wer"), ("album_artist", "Alle"), ("composer", "Komponistin"),
        ("album", "Platte"), ("date", "2016"), ("comment", "a = b; c"), ("genre", "Tanz"), ("copyright", "©"),
        ("grouping", "g"), ("lyrics", "la"), ("description", "d"), ("synopsis", "s"), ("show", "Schau"),
        ("episode_id", "e1"), ("network", "n"), ("keywords", "k"), ("episode_sort", "3"), ("season_number", "2"),
        ("media_type", "6"), ("hd_video", "1"), ("gapless_playback", "1"), ("compilation", "1"), ("track", "3/7"),
        ("disc", "1/2"), ("make", "Apple"), ("model", "iPhone 6s"), ("location", "+40.5000-111.2500+1401.500000/"),
        ("creation_time", "2016-02-02T17:51:27.000000Z"), ("language", "deu"), ("encoded_by", "x"),
        ("director", "Regie"), ("rating", "5"), ("handler", "H"),
    ]

    private func source(_ name: String, frames: Int = 4, _ more: [String], tags: [(name: String, value: String)]) throws
        -> String
    {
        let path = folder.path + "/" + name
        try ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25", "-frames:v", "\(frames)"] + more
                + tags.flatMap { ["-metadata", "\($0.name)=\($0.value)"] } + [path])
        return path
    }

    private func tags(of path: String) throws -> [String: String] {
        let text = try run("ffprobe", "-v", "error", "-show_entries", "format_tags", "-of", "default=nk=0:nw=1", path)
        return text.split(separator: "\n").reduce(into: [:]) { tags, line in
            guard line.hasPrefix("TAG:"), let equals = line.firstIndex(of: "=") else { return }
            tags[line.dropFirst(4).prefix(upTo: equals).lowercased()] = String(line[line.index(after: equals)...])
        }
    }

    @Test("each tag is in the output with its value, or a warning names it", arguments: Container.ofPictures)
    func kept(container: Container) throws {
        let source = try source("s.mkv", ["-c:v", "mpeg2video"], tags: Self.tags)
        let job = try MediaJob(source, spec: JobSpec(container: container), folder: folder.path)
        let found = try tags(of: job.output)
        let named = job.diagnostics.flatMap { diagnostic in
            if case .tagsLeftOut(container, let names) = diagnostic { names } else { [String]() }
        }
        for (name, value) in Self.tags {
            // The name that AVI's demuxer has for it.
            let kept = found[name] ?? (container == .avi && name == "album" ? found["product"] : nil)
            #expect(kept == (named.contains(name) ? nil : value), "\(name)")
        }
        #expect(Set(named).isSubset(of: Self.tags.map(\.name)))
        #expect(named.isEmpty == [.mkv, .webm, .nut].contains(container))
    }

    @Test("what phones write is kept in MP4 and MOV", arguments: [Container.mp4, .mov])
    func phone(container: Container) throws {
        let phone = [
            ("com.apple.quicktime.make", "Apple"),
            ("com.apple.quicktime.location.ISO6709", "+40.6358-111.8084+1401.883/"),
            ("com.android.version", "12"), ("creation_time", "2016-02-02T17:51:27.000000Z"),
        ]
        let source = try source("s.mov", ["-c:v", "mpeg4", "-movflags", "use_metadata_tags"], tags: phone)
        let job = try MediaJob(source, spec: JobSpec(container: container), folder: folder.path)
        #expect(job.warnings == [])
        let found = try tags(of: job.output)
        for (name, value) in phone { #expect(found[name.lowercased()] == value) }
        // Reversed twice, they are there still.
        let again = try MediaJob(job.output, spec: JobSpec(container: container), folder: folder.path)
        #expect(again.warnings == [])
        #expect(try tags(of: again.output) == found)
    }

    @Test("a tag that says nonsense fails nothing", arguments: [Container.mp4, .mov, .mkv, .avi, .nut])
    func nonsense(container: Container) throws {
        let odd = [
            ("creation_time", "yesterday"), ("location", "somewhere"), ("track", "abc"), ("disc", "-1/99999999999"),
            ("media_type", "x"), ("date", "32.13.2016"), ("title", String(repeating: "ä", count: 200)),
        ]
        let source = try source("s.nut", ["-c:v", "mpeg4"], tags: odd)
        let job = try MediaJob(source, spec: JobSpec(container: container), folder: folder.path)
        #expect(try tags(of: job.output)["title"] == odd.last?.1)
    }

    @Test("facts of the file that was are not tags of the file that is")
    func facts() throws {
        let source = try source("s.flv", ["-c:v", "flv"], tags: [("title", "T"), ("copyright", "C")])
        let job = try MediaJob(source, spec: JobSpec(container: .mkv), folder: folder.path)
        #expect(!job.warnings.contains { $0.hasPrefix("tags are left out") })
        #expect(Set(try tags(of: job.output).keys) == ["title", "copyright", "encoder"])
    }
}
