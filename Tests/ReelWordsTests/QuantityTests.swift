import ReelCore
import ReelWords
import Testing

@Suite struct QuantityTests {
    @Test(arguments: [
        ("768MiB", 768 << 20), ("2GiB", 2 << 30), ("2G", 2 << 30), ("1.5g", 3 << 29), ("500MB", 500_000_000),
        ("1048576", 1_048_576), (".5GiB", 1 << 29), ("64kb", 64_000), ("1TiB", 1 << 40), ("1B", 1),
    ])
    func sizes(text: String, bytes: Int64) { #expect(ByteSize(text)?.bytes == bytes) }

    @Test(arguments: [
        "", "MiB", "0", "-1GiB", "1.5", "1,5GiB", "2 GiB", "2GiBs", "1.GiB", ".GiB", "1e3", "999999999999999TiB",
        "٣MiB",
    ])
    func notSizes(text: String) { #expect(ByteSize(text) == nil) }

    @Test(arguments: [
        (0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (768 << 20, "768 MiB"), (3 << 29, "1.5 GiB"),
        (544_384_512, "519.2 MiB"),
    ])
    func sizesInWords(bytes: Int64, text: String) { #expect(ByteSize(bytes: bytes).description == text) }

    @Test(arguments: [
        ("5M", 5_000_000), ("800k", 800_000), ("2.5M", 2_500_000), ("96000", 96_000), ("1G", 1_000_000_000),
    ])
    func rates(text: String, bits: Int64) { #expect(BitRate(text)?.rate == .constant(bits)) }

    @Test func theSourcesRate() { #expect(BitRate("source")?.rate == .source) }

    @Test(arguments: ["", "M", "0", "5Mi", "5MB", "1.0000001k", "-5M", "Source"])
    func notRates(text: String) { #expect(BitRate(text) == nil) }

    @Test(arguments: [
        ("0", Rational(0)), ("90", Rational(90)), ("90.5", Rational(181, 2)), ("00:01:30.500", Rational(181, 2)),
        ("1:30.5", Rational(181, 2)), ("01:00:00", Rational(3600)), ("100:00:00.001", Rational(360_000_001, 1000)),
        ("0.1", Rational(1, 10)), (".5", Rational(1, 2)), ("1:.5", Rational(121, 2)), ("2.002", Rational(1001, 500)),
    ])
    func times(text: String, seconds: Rational) { #expect(ClockTime(text)?.seconds == seconds) }

    @Test(arguments: [
        "", ":", "1:", ":30", "1:60", "1:60:00", "1:00:60", "1:2:3:4", "-1", "1.", ".", "90s", "30f", "1.5:30", "1e2",
        "99999999999",
        "0.12345678", "999999999:59:59",
    ])
    func notTimes(text: String) { #expect(ClockTime(text) == nil) }

    @Test(arguments: [
        (".5", Position.seconds(Rational(1, 2))), ("00:01:12", .seconds(Rational(72))), ("30f", .frames(30)),
        ("00:00:01.12", .seconds(Rational(28, 25))),
        ("00:00:01:12", .timecode(Timecode(seconds: 1, frame: 12, dropsFrames: false))),
        ("00:01:00;02", .timecode(Timecode(seconds: 60, frame: 2, dropsFrames: true))),
    ])
    func positions(text: String, position: Position) { #expect(Position(text) == position) }

    @Test(arguments: [
        ("v", TrackSelection(audio: [], subtitles: [])), ("a:1,v,a:0", TrackSelection(audio: [0, 1], subtitles: [])),
        ("a,s", TrackSelection(audio: nil, subtitles: nil)), ("a:0,a", TrackSelection(audio: nil, subtitles: [])),
        ("a,a:0,s:2", TrackSelection(audio: nil, subtitles: [2])),
    ])
    func tracks(text: String, selection: TrackSelection) { #expect(TrackSelection(text) == selection) }

    @Test(arguments: ["", "v,", "a:", "a:-1", "a:+1", "a0", "x", "v:0", "A", "a:70000"])
    func notTracks(text: String) { #expect(TrackSelection(text) == nil) }

    @Test(arguments: ["", "90s", "f", "-1", "1.5f", "1:2:3:4:5", "00:60:00:00", "soon", "٣f"])
    func notPositions(text: String) { #expect(Position(text) == nil) }

    @Test(arguments: [(0, "0:00"), (8.2, "0:09"), (60, "1:00"), (754, "12:34"), (3723, "1:02:03")])
    func durationsInWords(seconds: Double, text: String) { #expect(ClockTime.text(seconds: seconds) == text) }

    @Test("a length of time has its unit: 7 could be days or seconds")
    func spans() {
        #expect(TimeSpan("7d")?.seconds == 604_800)
        #expect(TimeSpan("1.5h")?.seconds == 5400)
        #expect(TimeSpan("90m")?.seconds == 5400)
        #expect(TimeSpan("45s")?.seconds == 45)
        for text in ["7", "0s", "7 d", "d", "-1d", "7w", ""] { #expect(TimeSpan(text) == nil, "\(text)") }
    }
}
