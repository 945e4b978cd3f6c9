import Foundation
import ReelCore
import ReelJobs
import ReelRandom
import Testing

/// A folder with two files that edits can name; it is removed with the suite.
class EditFolder {
    let folder = NSTemporaryDirectory() + "reel-edit-tests-" + UUID().uuidString

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in ["a.mov", "b c.mp4"] {
            try name.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
}

/// Edits as users write them.
@Suite final class SubmittedEditTests: EditFolder {
    private func read(_ text: String) throws(ReelFailure) -> SubmittedEdit {
        let path = folder + "/cut.json"
        _ = FileManager.default.createFile(atPath: path, contents: Data(text.utf8))
        return try SubmittedEdit(file: path)
    }

    private func flaw(_ text: String) -> (place: String, flaw: EditFlaw)? {
        let failure = #expect(throws: ReelFailure.self) { try read(text) }
        guard case .editFlawed(let path, let place, let flaw)? = failure?.reason else {
            Issue.record("\(text): \(String(describing: failure))")
            return nil
        }
        #expect(path == folder + "/cut.json" && failure?.kind == .input && failure?.owner == .request)
        return (place, flaw)
    }

    @Test func whatIsNotJSONIsNamedByItsLine() {
        let found = flaw("{ \"clips\": [\n  { \"source\": }\n] }")
        guard case .notJSON(let said)? = found?.flaw else {
            Issue.record("\(String(describing: found))")
            return
        }
        #expect(said.hasPrefix("line 2: "), "\(said)")
    }

    @Test func everyKeyIsRead() throws {
        let edit = try read(
            """
            { "clips": [
              { "source": "b c.mp4", "from": "0:01.5", "to": 4, "play": "reverse" },
              { "source": "a.mov", "play": "ping-pong", "times": 2, "speed": "3/2", "sound": false },
              { "gap": 0.5 },
              { "source": "./b c.mp4", "from": "15015/30000", "play": "freeze", "duration": 2 } ],
              "turn": "twice", "crossfade": 0.4, "trim": "shared" }
            """)
        #expect(edit.sources == ["b c.mp4", "a.mov"].map { "\(folder)/\($0)" })
        let clips = [
            EditClip(
                source: 0, from: .seconds(Rational(3, 2)), to: .seconds(Rational(4)), play: .reverse, title: "b c"),
            EditClip(source: 1, play: .pingPong, times: 2, speed: Rational(3, 2), sound: false, title: "a"),
            .gap(Rational(1, 2)),
            EditClip(source: 0, from: .seconds(Rational(1001, 2000)), play: .forward, still: Rational(2), title: "b c"),
        ]
        #expect(edit.edit == Edit(clips: clips, turn: .twice, crossfade: Rational(2, 5), trim: .shared))
    }

    @Test func aSoundtrackIsASourceMore() throws {
        let edit = try read(#"{"clips": [{"source": "a.mov"}], "soundtrack": {"source": "b c.mp4", "from": "1.5"}}"#)
        #expect(edit.sources == ["a.mov", "b c.mp4"].map { "\(folder)/\($0)" })
        #expect(edit.edit.soundtrack == Soundtrack(source: 1, from: Rational(3, 2)))
        let spec = JobSpec(container: .mp4, edit: edit.edit)
        #expect(spec.isOnlyHeard(1) && !spec.isOnlyHeard(0))
        // The clips' own file can be heard forwards beside pictures that run backwards.
        var own = SubmittedEdit(
            playing: ["\(folder)/a.mov"], as: [EditClip(play: .reverse)], titled: false, turn: .once, crossfade: nil,
            trim: .none)
        own.add(soundtrack: "\(folder)/./a.mov", from: Rational(0))
        #expect(own.sources.count == 1 && own.edit.soundtrack == Soundtrack(source: 0))
        #expect(!JobSpec(container: .mp4, edit: own.edit).isOnlyHeard(0))
    }

    @Test func whatIsNotSaidIsUsual() throws {
        let edit = try read(#"{"clips": [{"source": "a.mov"}]}"#)
        #expect(edit.edit == Edit(clips: [EditClip(play: .forward, title: "a")]))
    }

    @Test(
        "numbers count as their decimal text",
        arguments: [
            ("0.1", Rational(1, 10)), ("0.4", Rational(2, 5)), ("29.97", Rational(2997, 100)),
            ("1e-3", Rational(1, 1000)),
            ("12", Rational(12)), ("0.000001", Rational(1, 1_000_000)),
            ("1234.567891", Rational(1_234_567_891, 1_000_000)),
        ])
    func decimals(text: String, value: Rational) throws {
        #expect(try read(#"{"clips": [{"source": "a.mov", "from": \#(text)}]}"#).edit.clips[0].from == .seconds(value))
    }

    @Test func whatCannotBeDoneIsNamedByItsPlace() throws {
        let clip = #""source": "a.mov""#
        let keys = ["source", "from", "to", "play", "times", "speed", "sound", "duration", "gap"]
        let wrong: [(text: String, place: String, flaw: EditFlaw)] = [
            ("[]", "", .malformed(wanted: .object)), ("{}", "clips", .missing),
            (#"{"clips": {}}"#, "clips", .malformed(wanted: .list)),
            (#"{"clips": []}"#, "clips", .clipCount(found: 0)),
            (#"{"clips": [{"gap": 1}]}"#, "clips", .onlyGaps),
            (#"{"clips": [3]}"#, "clips[0]", .malformed(wanted: .object)),
            (#"{"clips": [{}]}"#, "clips[0].source", .missing),
            (
                #"{"clips": [{\#(clip)}], "fade": 1}"#, "fade",
                .unknownKey(known: ["clips", "turn", "crossfade", "trim", "soundtrack"])
            ),
            (#"{"clips": [{\#(clip)}], "soundtrack": {}}"#, "soundtrack.source", .missing),
            (
                #"{"clips": [{\#(clip)}], "soundtrack": {"source": "x.mp3"}}"#, "soundtrack.source",
                .sourceMissing(path: folder + "/x.mp3")
            ),
            (
                #"{"clips": [{\#(clip)}], "soundtrack": {\#(clip), "from": -1}}"#, "soundtrack.from",
                .malformed(wanted: .time)
            ),
            (#"{"clips": [{\#(clip), "colour": 1}]}"#, "clips[0].colour", .unknownKey(known: keys)),
            (#"{"clips": [{"source": 7}]}"#, "clips[0].source", .malformed(wanted: .text)),
            (#"{"clips": [{"source": "x.mov"}]}"#, "clips[0].source", .sourceMissing(path: folder + "/x.mov")),
            (#"{"clips": [{\#(clip), "from": -1}]}"#, "clips[0].from", .malformed(wanted: .position)),
            (#"{"clips": [{\#(clip), "from": "1/0"}]}"#, "clips[0].from", .malformed(wanted: .position)),
            (#"{"clips": [{\#(clip), "from": true}]}"#, "clips[0].from", .malformed(wanted: .position)),
            (
                #"{"clips": [{\#(clip)}, {\#(clip), "from": 12, "to": 9}]}"#, "clips[1].from",
                .rangeEmpty(from: .seconds(Rational(12)), to: .seconds(Rational(9)))
            ),
            (
                #"{"clips": [{\#(clip), "play": "back"}]}"#, "clips[0].play",
                .malformed(wanted: .word(words: ["reverse", "forward", "ping-pong", "freeze"]))
            ),
            (
                #"{"clips": [{\#(clip), "times": 0}]}"#, "clips[0].times",
                .malformed(wanted: .count(least: 1, most: 10_000))
            ),
            (
                #"{"clips": [{\#(clip), "times": 1.5}]}"#, "clips[0].times",
                .malformed(wanted: .count(least: 1, most: 10_000))
            ),
            (
                #"{"clips": [{\#(clip), "speed": 0}]}"#, "clips[0].speed",
                .malformed(wanted: .ratio(least: Rational(1, 16), most: Rational(16)))
            ),
            (#"{"clips": [{\#(clip), "sound": 0}]}"#, "clips[0].sound", .malformed(wanted: .flag)),
            (#"{"clips": [{\#(clip), "play": "freeze"}]}"#, "clips[0].duration", .missing),
            (#"{"clips": [{\#(clip), "to": 2, "duration": 1}]}"#, "clips[0].duration", .excludes(key: "to")),
            (#"{"clips": [{\#(clip), "duration": "0f"}]}"#, "clips[0].duration", .malformed(wanted: .length)),
            (
                #"{"clips": [{\#(clip), "from": "7f", "to": "7f"}]}"#, "clips[0].from",
                .rangeEmpty(from: .frames(7), to: .frames(7))
            ),
            (
                #"{"clips": [{\#(clip), "play": "freeze", "duration": 0}]}"#, "clips[0].duration",
                .malformed(wanted: .duration)
            ),
            (#"{"clips": [{\#(clip), "gap": 1}]}"#, "clips[0].gap", .excludes(key: "source")),
            (
                #"{"clips": [{\#(clip)}], "turn": "thrice"}"#, "turn",
                .malformed(wanted: .word(words: ["once", "twice"]))
            ),
        ]
        for (text, place, expected) in wrong {
            let found = flaw(text)
            #expect(found?.place == place && found?.flaw == expected, "\(text): \(String(describing: found))")
        }
    }

    @Test func whatIsNoJSONSaysWhy() throws {
        for text in ["", "{", #"{"clips": [}"#, "\u{FF}", "{} {}"] {
            guard case .notJSON(let said)? = flaw(text)?.flaw else {
                Issue.record("\(text)")
                continue
            }
            #expect(!said.isEmpty)
        }
    }

    @Test func deepAndLongFilesAreRefused() throws {
        let deep = String(repeating: "[", count: 100_000)
        guard case .notJSON? = flaw(deep)?.flaw else {
            Issue.record("deep")
            return
        }
        let clip = #"{"gap":1},"#
        let long = #"{"clips":["# + String(repeating: clip, count: Edit.mostClips) + #"{"source":"a.mov"}]}"#
        #expect(flaw(long)?.flaw == .clipCount(found: Edit.mostClips + 1))
        let padded = #"{"clips":[]"# + String(repeating: " ", count: 33 << 20) + "}"
        #expect(flaw(padded)?.flaw == .tooLong(bytes: 32 << 20))
    }

    @Test func aFileThatIsMissingIsNamed() throws {
        let failure = #expect(throws: ReelFailure.self) { try SubmittedEdit(file: folder + "/none.json") }
        guard case .sourceUnreadable(folder + "/none.json", ENOENT, false)? = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test func filesAreStitchedInTheirOrder() {
        let (a, b) = (folder + "/a.mov", folder + "/b c.mp4")
        let edit = SubmittedEdit(
            playing: [a, b, a], as: [EditClip(play: .forward, times: 2)], titled: true, turn: .once,
            crossfade: Rational(0), trim: .shared)
        #expect(edit.sources == [a, b])
        #expect(edit.edit.clips.map(\.source) == [0, 1, 0])
        #expect(edit.edit.clips.map(\.title) == ["a", "b c", "a"])
        #expect(edit.edit.trim == .shared && edit.edit.crossfade == Rational(0))
    }
}

@Suite("Bounds of JSON texts")
struct JSONBoundsTests {
    @Test(
        "depth and values are counted as JSON has them",
        arguments: [
            ("1", 1, 1), ("[1,2,3]", 2, 4), ("[[1],[2]]", 3, 5), ("{\"a\":[1,2],\"b\":{\"c\":3}}", 3, 6),
            (#"["[[[{{{,,,","\"[","\\"]"#, 2, 4), (#"{"[\"":"]"}"#, 2, 2), ("[[[[1]]],[2]]", 5, 7),
        ])
    func counts(text: String, depth: Int, values: Int) {
        let bytes = Data(text.utf8)
        #expect(JSONBounds(depth: depth, values: values).excess(of: bytes) == nil)
        let (shallower, fewer) = (depth - 1, values - 1)
        if depth > 1 {
            #expect(JSONBounds(depth: shallower, values: values).excess(of: bytes) == .tooDeep(most: shallower))
        }
        if values > 1 {
            #expect(JSONBounds(depth: depth, values: fewer).excess(of: bytes) == .tooManyValues(most: fewer))
        }
    }

    @Test("what is no JSON is counted to its end, and refused by the decoder")
    func noJSON() {
        let bounds = JSONBounds(depth: 4, values: 10)
        for text in ["", "]]]]", "\"", "[\"\\", "}{", "\u{0}"] {
            #expect(bounds.excess(of: text.utf8) == nil, "\(text)")
            #expect(throws: JSONFault.notJSON) { try JSONValue(Data(text.utf8), within: bounds) }
        }
    }

    @Test("of objects under a key, one key is read, if that is asked for; numbers are as they are written")
    func selection() throws {
        let text = #"{"metadata":{"reel":{"a":0.1},"other":[1]},"b":{"metadata":"x"},"c":{"metadata":{"x":{}}}}"#
        let own = JSONValue.object(["reel": .object(["a": .number(Decimal(string: "0.1") ?? 0)])])
        #expect(
            try JSONValue(Data(text.utf8), within: .file, only: ["metadata": "reel"])
                == .object([
                    "metadata": own, "b": .object(["metadata": .null]), "c": .object(["metadata": .object([:])]),
                ]))
        #expect(
            try JSONValue(Data(#"{"metadata":["x",null,true]}"#.utf8), within: .file)
                == .object(["metadata": .array([.string("x"), .null, .bool(true)])]))
    }

    /// A value with its depth and the number of values in it, an empty list or object counting as two.
    private func value(_ random: inout SplitMix64, _ room: Int) -> (text: String, depth: Int, values: Int) {
        let kind = Int.random(in: 0..<(room > 1 ? 6 : 3), using: &random)
        switch kind {
        case 0: return ("\(Int.random(in: -9...9, using: &random)).5e1", 1, 1)
        case 1: return (#""a\"[{,\\""#, 1, 1)
        case 2: return (["true", "false", "null"].randomElement(using: &random) ?? "null", 1, 1)
        default:
            let inner = (0..<Int.random(in: 0...3, using: &random)).map { _ in value(&random, room - 1) }
            let texts = inner.enumerated().map { place, value in
                kind == 3 ? value.text : "\"k\(place)\" : \(value.text)"
            }
            let text = texts.joined(separator: " , ")
            return (
                kind == 3 ? "[ \(text) ]" : "{\(text)}", 1 + (inner.map(\.depth).max() ?? 1),
                1 + max(inner.map(\.values).reduce(0, +), 1)
            )
        }
    }

    @Test("generated texts are counted exactly, and decoded within their own bounds", arguments: UInt64(0)..<50)
    func generated(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let (text, depth, values) = value(&random, 6)
        counts(text: text, depth: depth, values: values)
        _ = try JSONValue(Data(text.utf8), within: JSONBounds(depth: depth, values: values))
    }
}
