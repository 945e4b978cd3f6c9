import Foundation
import ReelCore
import ReelJobs
import Testing

/// Timelines of OpenTimelineIO, as its library writes them and as nobody should.
@Suite final class TimelineTests: EditFolder {
    private func fixture(_ name: String) throws -> String {
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name).otio")
        return try String(contentsOf: url, encoding: .utf8)
    }

    private func read(_ text: String, lenient: Bool = false) throws(ReelFailure) -> SubmittedEdit {
        let path = folder + "/cut.otio"
        _ = FileManager.default.createFile(atPath: path, contents: Data(text.utf8))
        return try SubmittedEdit(file: path, isLenient: lenient)
    }

    private func flaw(_ text: String, lenient: Bool = false) -> (place: String, flaw: EditFlaw)? {
        let failure = #expect(throws: ReelFailure.self) { try read(text, lenient: lenient) }
        guard case .editFlawed(folder + "/cut.otio", let place, let flaw)? = failure?.reason else {
            Issue.record("\(text.prefix(200)): \(String(describing: failure))")
            return nil
        }
        #expect(failure?.exitCode == 3)
        return (place, flaw)
    }

    // MARK: Timelines as text

    private func time(_ value: String, _ rate: String = "25") -> String {
        #"{"OTIO_SCHEMA":"RationalTime.1","value":\#(value),"rate":\#(rate)}"#
    }

    private func range(_ start: String, _ length: String, _ rate: String = "25") -> String {
        #"{"OTIO_SCHEMA":"TimeRange.1","start_time":\#(time(start, rate)),"duration":\#(time(length, rate))}"#
    }

    private func clip(
        _ range: String?, url: String = "a.mov", available: String = "null", effects: String = "", more: String = ""
    ) -> String {
        #"""
        {"OTIO_SCHEMA":"Clip.2","name":"shot","source_range":\#(range ?? "null"),"effects":[\#(effects)],\#(more)
        "media_references":{"DEFAULT_MEDIA":{"OTIO_SCHEMA":"ExternalReference.1","target_url":"\#(url)",
        "available_range":\#(available)}},"active_media_reference_key":"DEFAULT_MEDIA"}
        """#
    }

    private func warp(_ scalar: String, more: String = "") -> String {
        #"{"OTIO_SCHEMA":"LinearTimeWarp.1","time_scalar":\#(scalar),\#(more)"effect_name":"LinearTimeWarp"}"#
    }

    private func track(_ children: [String], kind: String = "Video", more: String = "") -> String {
        let all = children.joined(separator: ",")
        return #"{"OTIO_SCHEMA":"Track.1","name":"\#(kind)","kind":"\#(kind)",\#(more)"children":[\#(all)]}"#
    }

    private func timeline(_ tracks: [String], start: String = "null") -> String {
        #"""
        {"OTIO_SCHEMA":"Timeline.1","global_start_time":\#(start),
        "tracks":{"OTIO_SCHEMA":"Stack.1","children":[\#(tracks.joined(separator: ","))]}}
        """#
    }

    private func cut(_ clips: String...) -> String { timeline([track(clips)]) }

    // MARK: What is taken

    private let rate = Rational(30000, 1001)

    private var fixtureClips: [EditClip] {
        func seconds(_ frames: Int64) -> Position { .seconds(Rational(frames) / rate) }
        return [
            EditClip(source: 0, from: seconds(30), to: seconds(90), rule: .middle, play: .forward, title: "a"),
            EditClip(source: 0, from: seconds(30), to: seconds(90), rule: .middle, play: .reverse, title: "a"),
            .gap(Rational(1, 2)),
            EditClip(
                source: 0, from: seconds(90), rule: .middle, play: .forward, sound: false, still: Rational(15) / rate,
                title: "a"),
            EditClip(
                source: 1, from: .seconds(Rational(0)), to: .seconds(Rational(2)), rule: .middle, play: .forward,
                sound: false, title: "b c"
            ),
        ]
    }

    @Test("every version of the library is read", arguments: ["cut-0.15", "cut-0.18", "cut-clip1", "collection"])
    func versions(name: String) throws {
        let edit = try read(fixture(name))
        #expect(edit.sources == ["a.mov", "b c.mp4"].map { "\(folder)/\($0)" })
        #expect(edit.edit.clips.map { $0.source == nil ? .gap($0.still ?? Rational(0)) : $0 } == fixtureClips)
        #expect(edit.edit.timecode == "01:00:00;00" && edit.edit.trim == .none && edit.edit.crossfade == nil)
        #expect(edit.diagnostics.isEmpty)
    }

    @Test("a track alone is a timeline; without audio tracks, each clip has its own sound")
    func loneTrack() throws {
        let edit = try read(fixture("track")).edit
        #expect(edit.timecode == nil && edit.clips.filter { $0.source != nil }.allSatisfy(\.sound))
        #expect(edit.clips.count == 5)
        #expect(try read(clip(range("0", "25"))).edit.clips.count == 1)
    }

    @Test(
        "rates that programs round are broadcast rates; others, and values, count exactly",
        arguments: [
            ("23.98", "24", Rational(1001, 1000)), ("29.97", "30", Rational(1001, 1000)),
            ("59.94005994005994", "60", Rational(1001, 1000)), ("24", "12", Rational(1, 2)),
            ("23.976023976023978", "23.976", Rational(999_999_000, 1_000_000_000) * Rational(1001, 1001)),
            ("1000", "333", Rational(333, 1000)), ("1", "0.4", Rational(2, 5)),
            ("48000", "1601.6", Rational(1001, 30000)),
            ("7", "3", Rational(3, 7)),
        ])
    func rates(rate: String, value: String, seconds: Rational) throws {
        let edit = try read(cut(clip(range("0", value, rate)))).edit
        let expected = rate.hasPrefix("23.976") ? Rational(23_976, 1000) * Rational(1001, 24_000) : seconds
        #expect(edit.clips[0].to == .seconds(expected))
    }

    @Test("ranges count on the media's own clock, and fall back on what is available")
    func ranges() throws {
        let own = try read(cut(clip(range("90025", "50"), available: range("90000", "100")))).edit
        #expect(own.clips[0].from == .seconds(Rational(1)) && own.clips[0].to == .seconds(Rational(3)))
        let whole = try read(cut(clip(nil, available: range("90000", "100")))).edit
        #expect(whole.clips[0].from == .seconds(Rational(0)) && whole.clips[0].to == .seconds(Rational(4)))
        let mixed = try read(cut(clip(range("86424", "48", "24"), available: range("90000", "100")))).edit
        #expect(mixed.clips[0].from == .seconds(Rational(1)) && mixed.clips[0].to == .seconds(Rational(3)))
    }

    @Test("time scalars are directions; a disabled effect is none; an item's length does not change")
    func directions() throws {
        let all = range("0", "25")
        let edit = try read(
            cut(
                clip(all, effects: warp("-1")), clip(all, effects: warp("1.0")), clip(all, effects: warp("0")),
                clip(all, effects: warp("-1") + "," + warp("-1")),
                clip(all, effects: warp("2", more: #""enabled":false,"#)),
                clip(all, more: #""enabled":false,"#), clip(range("3", "0")))
        ).edit
        #expect(edit.clips.map(\.play) == [.reverse, .forward, .forward, .forward, .forward, .forward])
        #expect(edit.clips.map(\.still) == [nil, nil, Rational(1), nil, nil, Rational(1)])
        #expect(edit.clips.map(\.source) == [0, 0, 0, 0, 0, nil])
    }

    @Test("media are named by paths and by URLs")
    func addresses() throws {
        for url in ["b c.mp4", "b%20c.mp4", "./b c.mp4", "\(folder)/b c.mp4", "file://\(folder)/b%20c.mp4"]
            + ["file://localhost\(folder)/b%20c.mp4", "FILE:\(folder)/b%20c.mp4"]
        {
            #expect(try read(cut(clip(range("0", "9"), url: url))).sources == [folder + "/b c.mp4"], "\(url)")
        }
    }

    @Test("the first enabled video track counts; clips of others are reported")
    func otherTracks() throws {
        let (first, second) = (track([clip(range("0", "25"))]), track([clip(range("50", "5"))]))
        let off = track([clip(range("9", "9"))], more: #""enabled":false,"#)
        let edit = try read(timeline([off, first, second, track([])]))
        #expect(edit.edit.clips.map(\.to) == [.seconds(Rational(1))])
        #expect(
            edit.diagnostics == [.timelinePartLeftOut(place: "tracks.children[2]", name: "Video", part: .videoTrack)])
    }

    @Test(
        "the start time is a timecode, which drops frames at 29.97 and 59.94 frames a second",
        arguments: [
            ("90000", "25", "01:00:00:00"), ("107892", "29.97", "01:00:00;00"), ("1799", "29.97", "00:00:59;29"),
            ("1800", "29.97", "00:01:00;02"), ("17982", "29.97", "00:10:00;00"), ("3600", "59.94", "00:01:00;04"),
            ("86399", "23.976", "00:59:59:23"), ("2160001", "25", "00:00:00:01"), ("48000", "48000", "00:00:01:00"),
        ])
    func startTimes(value: String, rate: String, timecode: String) throws {
        let text = timeline([track([clip(range("0", "25"))])], start: time(value, rate))
        #expect(try read(text).edit.timecode == timecode)
    }

    // MARK: Sound

    @Test("audio tracks that place what the video places are its sound, whatever they count in")
    func sameSound() throws {
        let video = track([clip(range("0", "25")), clip(range("50", "25"), effects: warp("-1"))])
        let gap = #"{"OTIO_SCHEMA":"Gap.1","source_range":\#(range("0", "48000", "48000"))}"#
        let sound = track([gap, clip(range("96000", "48000", "48000"), effects: warp("-1"))], kind: "Audio")
        #expect(try read(timeline([video, sound])).edit.clips.map(\.sound) == [false, true])
        #expect(try read(timeline([video, track([], kind: "Audio")])).edit.clips.map(\.sound) == [true, true])
    }

    @Test("other sound is refused, by name and place")
    func otherSound() throws {
        let video = track([clip(range("0", "25")), clip(range("50", "25"))])
        let others = [
            [clip(range("1", "25"))], [clip(range("0", "20"))], [clip(range("0", "25"), url: "b c.mp4")],
            [clip(range("0", "25"), effects: warp("-1"))], [clip(range("50", "25"))],
            [clip(range("0", "25")), clip(range("50", "25")), clip(range("75", "25"))],
        ]
        for other in others {
            let text = timeline([video, track(other, kind: "Audio")])
            let found = flaw(text)
            #expect(found?.place == "tracks.children[1]" && found?.flaw == .notTaken(part: .otherSound, name: "Audio"))
            let lenient = try read(text, lenient: true)
            #expect(lenient.edit.clips.map(\.sound) == [true, true])
            #expect(
                lenient.diagnostics == [
                    .timelinePartLeftOut(place: "tracks.children[1]", name: "Audio", part: .otherSound)
                ])
        }
    }

    // MARK: What is refused

    @Test("what an edit cannot show is left out if that is allowed, and nothing after it moves")
    func lenience() throws {
        let text = try fixture("hard")
        #expect(flaw(text)?.flaw == .notTaken(part: .transition, name: "dissolve"))
        let edit = try read(text, lenient: true)
        let second = Rational(30) / rate
        #expect(edit.edit.clips.map(\.source) == [0, nil, nil, nil, 0])
        #expect(edit.edit.clips.map(\.still) == [nil, second, second, Rational(45) / rate, nil])
        #expect(edit.edit.clips[4].from == .seconds(Rational(60) / rate))
        #expect(edit.edit.clips.allSatisfy { $0.play == .forward })
        let parts = edit.diagnostics.compactMap { diagnostic -> (String, String, TimelinePart)? in
            guard case .timelinePartLeftOut(let place, let name, let part) = diagnostic else { return nil }
            return (place, name, part)
        }
        let video = "tracks.children[0].children"
        #expect(
            parts.map(\.0) == [
                "\(video)[1]", "\(video)[2].media_references.DEFAULT_MEDIA",
                "\(video)[3].media_references.DEFAULT_MEDIA", "\(video)[4]", "\(video)[5].effects[0]",
                "tracks.children[1]",
            ])
        #expect(parts.map(\.1) == ["dissolve", "lost", "bars", "nested", "graded", "music"])
        #expect(parts.map(\.2) == [.transition, .noMedia, .generator, .nested, .effect(name: "LUT"), .otherSound])
    }

    @Test("what is wrong is named by its place")
    func flaws() throws {
        let all = range("0", "25")
        let (video, first) = ("tracks.children[0]", "tracks.children[0].children[0]")
        let wrong: [(text: String, place: String, flaw: EditFlaw)] = [
            ("[]", "", .malformed(wanted: .object)), ("{}", "OTIO_SCHEMA", .missing),
            (#"{"OTIO_SCHEMA":7}"#, "OTIO_SCHEMA", .malformed(wanted: .text)),
            (#"{"OTIO_SCHEMA":"Film.1"}"#, "", .unknownSchema(schema: "Film.1")),
            (#"{"OTIO_SCHEMA":"Timeline.2"}"#, "", .unknownSchema(schema: "Timeline.2")),
            (#"{"OTIO_SCHEMA":"Timeline.1"}"#, "tracks", .missing),
            (
                #"{"OTIO_SCHEMA":"Timeline.1","tracks":\#(track([]))}"#, "tracks",
                .malformed(wanted: .schema(names: ["Stack.1"]))
            ),
            (
                #"{"OTIO_SCHEMA":"SerializableCollection.1","children":[\#(cut(clip(all))),\#(cut(clip(all)))]}"#, "",
                .timelineCount(found: 2)
            ),
            (timeline([]), "", .noVideoTrack), (timeline([track([clip(all)], kind: "Audio")]), "", .noVideoTrack),
            (timeline([track([])]), "", .clipCount(found: 0)),
            (cut(#"{"OTIO_SCHEMA":"Gap.1","source_range":\#(all)}"#), "", .onlyGaps),
            (cut(clip(nil)), first + ".source_range", .missing),
            (cut(clip(#"{"OTIO_SCHEMA":"TimeRange.1"}"#)), first + ".source_range.start_time", .missing),
            (cut(clip(range("0", "25", "0"))), first + ".source_range.start_time.rate", .malformed(wanted: .rate)),
            (cut(clip(range("0", "25", "-24"))), first + ".source_range.start_time.rate", .malformed(wanted: .rate)),
            (cut(clip(range("0", "-25"))), first + ".source_range.duration", .malformed(wanted: .duration)),
            (cut(clip(range("1e300", "25"))), first + ".source_range.start_time.value", .malformed(wanted: .number)),
            (cut(clip(range("1e15", "25"))), first + ".source_range.start_time", .malformed(wanted: .moment)),
            (cut(clip(range(#""0""#, "25"))), first + ".source_range.start_time.value", .malformed(wanted: .number)),
            (
                cut(clip(all, effects: warp("2"))), first + ".effects[0].time_scalar",
                .timeScalar(scalar: "2.0", name: "shot")
            ),
            (
                cut(clip(all, effects: warp("-0.5"))), first + ".effects[0].time_scalar",
                .timeScalar(scalar: "-0.5", name: "shot")
            ),
            (
                cut(clip(all, url: "x.mov")), first + ".media_references.DEFAULT_MEDIA.target_url",
                .notTaken(part: .missingFile(path: folder + "/x.mov"), name: "shot")
            ),
            (
                cut(clip(all, url: "https://example.com/a.mov")),
                first + ".media_references.DEFAULT_MEDIA.target_url",
                .notTaken(part: .remoteMedia(url: "https://example.com/a.mov"), name: "shot")
            ),
            (
                cut(#"{"OTIO_SCHEMA":"Clip.1","name":"shot","source_range":\#(all),"media_reference":null}"#), first,
                .notTaken(part: .noMedia, name: "shot")
            ),
            (
                cut(#"{"OTIO_SCHEMA":"Title.3","name":"end","source_range":\#(all)}"#), first,
                .notTaken(part: .schema(name: "Title.3"), name: "end")
            ),
            (
                timeline([track([clip(all)], more: #""source_range":\#(all),"#)]), video,
                .notTaken(part: .trimmedTrack, name: "Video")
            ),
            (
                timeline([track([clip(all)]), track([], kind: "Subtitle")]), "tracks.children[1]",
                .notTaken(part: .otherTrack(kind: "Subtitle"), name: "Subtitle")
            ),
            (
                timeline([track([clip(all)])], start: time("-1")), "global_start_time",
                .notTaken(part: .startTime, name: "")
            ),
        ]
        for (text, place, expected) in wrong {
            let found = flaw(text)
            #expect(found?.place == place && found?.flaw == expected, "\(expected): \(String(describing: found))")
        }
        // Lenience does not make sense of nonsense.
        #expect(flaw(cut(clip(all, effects: warp("2"))), lenient: true)?.place == first + ".effects[0].time_scalar")
        let missing = try read(cut(clip(all), clip(all, url: "x.mov")), lenient: true)
        #expect(missing.edit.clips.map(\.source) == [0, nil] && missing.edit.clips[1].still == Rational(1))
    }

    @Test("deep, long and broken files are refused")
    func broken() throws {
        for text in ["", "{", String(repeating: "[", count: 100_000), cut(clip(range("NaN", "25")))] {
            guard case .notJSON? = flaw(text)?.flaw else {
                Issue.record("\(text.prefix(100))")
                continue
            }
        }
        var nested = clip(range("0", "25"))
        for _ in 0..<100 { nested = track([nested]) }
        #expect(flaw(timeline([nested]))?.flaw == .notTaken(part: .nested, name: "Video"))
        var collection = cut(clip(range("0", "25")))
        for _ in 0..<100 { collection = #"{"OTIO_SCHEMA":"SerializableCollection.1","children":[\#(collection)]}"# }
        #expect(try read(collection).edit.clips.count == 1)
        for _ in 0..<1000 { collection = #"{"OTIO_SCHEMA":"SerializableCollection.1","children":[\#(collection)]}"# }
        guard case .notJSON? = flaw(collection)?.flaw else {
            Issue.record("a thousand collections")
            return
        }
        let transition = #"{"OTIO_SCHEMA":"Gap.1"}"#
        let long = timeline([track(Array(repeating: transition, count: Edit.mostClips + 1))])
        #expect(flaw(long)?.flaw == .clipCount(found: Edit.mostClips + 1))
    }
}
