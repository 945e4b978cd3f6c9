import Foundation
import ReelCore
import ReelRandom
import Testing

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
