import ReelCore
import Testing

/// Which tags of a file are kept, and which of them a container stores.
@Suite("Tags of a file")
struct FileTagTests {
    private func entries(_ names: [String]) -> [MetadataEntry] { names.map { MetadataEntry(name: $0, value: "x") } }

    private func kept(_ names: [String], from format: String, timecode: String? = nil) -> [String] {
        var index = Indexes.regular(frames: 1, keysAt: [0])
        index.format = format
        index.metadata = entries(names)
        return index.keptTags(timecode: timecode).map(\.name)
    }

    @Test("what describes the recording is kept, in its order, under any name")
    func recording() {
        let names = ["TITLE", "com.apple.quicktime.make", "creation_time", "DIRECTOR", "location"]
        #expect(kept(names + ["major_brand", "ENCODER"], from: "mov,mp4,m4a,3gp,3g2,mj2") == names)
        #expect(kept(names + ["encoder"], from: "matroska,webm") == names)
    }

    @Test(
        "of containers that report facts of the file as tags, common names are kept",
        arguments: ["flv", "asf", "mxf", "rm", "avi"])
    func facts(format: String) {
        #expect(
            kept(["hasVideo", "title", "datasize", "WMFSDKVersion", "Copyright"], from: format) == [
                "title", "Copyright",
            ])
    }

    @Test("what a demuxer says twice, with and without a language, is kept once")
    func languages() {
        #expect(
            kept(["location-eng", "location", "lyrics-deu"], from: "mov,mp4,m4a,3gp,3g2,mj2") == [
                "location", "lyrics-deu",
            ])
    }

    @Test("an empty tag is none; a timecode given replaces the file's")
    func timecode() {
        var index = Indexes.regular(frames: 1, keysAt: [0])
        index.metadata = [
            MetadataEntry(name: "title", value: ""), MetadataEntry(name: "TIMECODE", value: "01:00:00:00"),
        ]
        #expect(index.keptTags(timecode: nil) == [MetadataEntry(name: "TIMECODE", value: "01:00:00:00")])
        #expect(index.keptTags(timecode: "02:00:00:00") == [MetadataEntry(name: "timecode", value: "02:00:00:00")])
    }

    @Test("a container loses what its list of names does not have")
    func lost() {
        let tags = entries(["Title", "make", "director"])
        func lost(_ container: Container, _ more: [String] = [], besideCover: Bool = false) -> [String] {
            container.lost(tags + entries(more), besideCover: besideCover).map(\.name)
        }
        #expect(lost(.mkv) == [])
        #expect(lost(.mp4) == ["make", "director"])
        #expect(lost(.mov) == ["director"])
        #expect(lost(.ts) == ["Title", "make", "director"])
        // Any name has a place in the list that a timecode needs, and that is where a cover would be.
        #expect(lost(.mp4, ["timecode"]) == [])
        #expect(lost(.mov, ["com.android.version"]) == [])
        #expect(lost(.mp4, ["timecode"], besideCover: true) == ["make", "director", "timecode"])
    }
}
