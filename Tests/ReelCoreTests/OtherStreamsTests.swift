import ReelCore
import Testing

@Suite("Times of subtitles and chapters")
struct OtherStreamsTests {
    /// Five frames of 3, 1, 4, 1 and 5 ticks of 1/30 s, the first at 10.
    private let index = Indexes.make(
        durations: [3, 1, 4, 1, 5], keysAt: [0], timeBase: TimeBase(1, 30), start: 10)

    private func clip(_ timestamps: TimestampMode, _ frames: Range<Int> = 0..<5) -> Clip {
        Clip(
            frames: frames, timestamps: timestamps,
            map: TimeMap(
                .backwards, source: TimeBase(1, 30), output: TimeBase(1, 30),
                start: index.video.frames[frames.lowerBound].interval.start,
                end: index.video.frames[frames.upperBound - 1].interval.end))
    }

    private func ticks(_ start: Int64, _ end: Int64) -> Range<Rational> { Rational(start, 30)..<Rational(end, 30) }

    @Test("a cue is shown while its mirror lasts, cut to what is shown")
    func mirrored() {
        let all = clip(.mirror)
        #expect(all.place(ticks(11, 15), in: index.video) == ticks(9, 13))
        #expect(all.place(ticks(0, 11), in: index.video) == ticks(13, 14))
        #expect(all.place(ticks(23, 99), in: index.video) == ticks(0, 1))
        #expect(all.place(ticks(24, 99), in: index.video) == nil)
        #expect(all.place(ticks(0, 10), in: index.video) == nil)
        let part = clip(.mirror, 1..<3)
        #expect(part.place(ticks(0, 99), in: index.video) == ticks(0, 5))
        #expect(part.place(ticks(12, 14), in: index.video) == ticks(4, 5))
    }

    @Test("with the source's timestamps a cue stays with the frames during which it was shown")
    func sourceTimestamps() {
        // The output shows frames 4, 3, 2, 1, 0 for 3, 1, 4, 1 and 5 ticks.
        let line = clip(.source)
        #expect(line.place(ticks(13, 14), in: index.video) == ticks(8, 9))
        #expect(line.place(ticks(14, 18), in: index.video) == ticks(4, 8))
        #expect(line.place(ticks(10, 13), in: index.video) == ticks(9, 14))
        #expect(line.place(ticks(18, 24), in: index.video) == ticks(0, 4))
        // Half of frame 2, and a third of frame 0, which lasts five ticks instead of three.
        #expect(line.place(ticks(16, 18), in: index.video) == ticks(4, 6))
        #expect(line.place(ticks(12, 13), in: index.video) == Rational(9, 30)..<Rational(32, 90))
    }

    @Test("chapters come in order; one without an end lasts until the next, what is not shown is left out")
    func chapters() {
        let source = [
            Chapter(start: Rational(10, 30), end: Rational(13, 30), title: "a"),
            Chapter(start: Rational(13, 30), end: Rational(12, 30), title: "backward"),
            Chapter(start: Rational(20, 30), end: Rational(20, 30), title: nil),
            Chapter(start: Rational(24, 30), end: Rational(90, 30), title: "beyond"),
        ]
        let turned = Chapter.placed(source, by: clip(.mirror), of: index.video)
        #expect(
            turned == [
                Chapter(start: Rational(0), end: Rational(4, 30), title: nil),
                Chapter(start: Rational(4, 30), end: Rational(11, 30), title: "backward"),
                Chapter(start: Rational(11, 30), end: Rational(14, 30), title: "a"),
            ])
    }

    @Test("cues without a duration last until the next one starts; those without a time are counted")
    func arrange() {
        func cue(_ start: Int64?, _ duration: Int64, _ name: UInt8) -> ScannedCue {
            ScannedCue(
                start: start.map { Timestamp($0) }, duration: Ticks(duration), text: CueText(payload: [name]))
        }
        let scanned = [
            cue(50, 0, 1), cue(20, 10, 2), cue(nil, 5, 3), cue(20, -7, 4), cue(.max, 5, 5), cue(70, .max, 6),
            cue(90, 0, 7),
        ]
        let (cues, lost) = ScannedCue.arrange(scanned, end: Timestamp(80))
        #expect(lost == 2)
        #expect(cues.map { $0.text.payload[0] } == [2, 4, 1, 6, 7])
        #expect(cues.map(\.interval.start.ticks) == [20, 20, 50, 70, 90])
        #expect(cues.map(\.interval.duration.count) == [10, 30, 20, 1 << 60, 0])
        #expect(ScannedCue.arrange([cue(20, 0, 1)], end: Timestamp(80)).cues[0].interval.duration == Ticks(60))
    }

    @Test("cues that overlap are cut into spans that do not, each with all texts shown in it")
    func spans() {
        let spans = [ticks(0, 4), ticks(2, 6), ticks(2, 3), ticks(8, 9)]
        let found = OverlappingSpans.flattened(spans)
        #expect(found.map(\.span) == [ticks(0, 2), ticks(2, 3), ticks(3, 4), ticks(4, 6), ticks(8, 9)])
        #expect(found.map(\.members) == [[0], [0, 1, 2], [0, 1], [1], [3]])
        #expect(OverlappingSpans.flattened([]).isEmpty)
        let crowd = OverlappingSpans.flattened((0..<100_000).map { ticks($0, 200_000) })
        #expect(crowd.allSatisfy { $0.members.count <= OverlappingSpans.mostAtOnce })
    }

    @Test("clocks of text in MP4 are neither too coarse for the cues nor too fine for a silence of hours")
    func subtitleTimeBase() {
        func clock(_ video: TimeBase, _ text: TimeBase) -> TimeBase {
            Container.mp4.subtitleTimeBase(video: video, text: text)
        }
        #expect(clock(TimeBase(1, 600), TimeBase(1, 1000)) == TimeBase(1, 48_000))
        #expect(clock(TimeBase(1, 12800), TimeBase(1, 1000)) == TimeBase(1, 64_000))
        #expect(clock(TimeBase(1, 90_000), TimeBase(1, 1_000_000)) == TimeBase(1, 90_000))
        #expect(clock(TimeBase(1, 120_000), TimeBase(1, 1_000_000)) == TimeBase(1, 48_000))
        #expect(clock(TimeBase(1001, 30_000), TimeBase(1, 30_000)) == TimeBase(1, 60_000))
        #expect(Container.mkv.subtitleTimeBase(video: TimeBase(1, 600), text: TimeBase(1, 100)) == TimeBase(1, 1000))
    }

    @Test("languages as QuickTime numbers them")
    func languages() {
        #expect(Container.mov.language("deu") == "ger")
        #expect(Container.mov.language("swe") == "sve")
        #expect(Container.mov.language("eng") == "eng")
        #expect(Container.mov.language("glg") == nil)
        #expect(Container.mp4.language("glg") == "glg")
        #expect(Container.mp4.language("pt-BR") == nil)
        #expect(Container.mkv.language("pt-BR") == "pt-BR")
    }
}
