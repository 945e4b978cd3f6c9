import Foundation
import ReelCore
import ReelRandom
import Testing

@Suite("Names of segments")
struct SegmentNameTests {
    private static let names: [(String, SegmentName)] = [
        ("v120-360.5f0a.nut", SegmentName(subject: .video(frames: 120..<360), token: "5f0a")),
        ("v0-1.0.nut", SegmentName(subject: .video(frames: 0..<1), token: "0")),
        ("a0.0123456789abcdef.nut", SegmentName(subject: .audio(track: 0), token: "0123456789abcdef")),
        ("a12.ff.nut", SegmentName(subject: .audio(track: 12), token: "ff")),
    ]

    @Test("A name is read back as printed, and so is that of its record")
    func roundTrip() {
        for (text, name) in SegmentNameTests.names {
            #expect(name.text == text)
            #expect("\(name)" == text)
            #expect(SegmentName(text) == name)
            #expect(name.recordName == text + ".json")
            #expect(SegmentName(recordName: text + ".json") == name)
            #expect(SegmentName(recordName: text) == nil)
            #expect(SegmentName(text + ".json") == nil)
        }
    }

    @Test(
        "Text that is never printed as a name is not read as one",
        arguments: [
            "", ".", "v0-1", "v0-1.aa", "v0-1..nut", "v0-1.aa.mkv", "v0-1.aa.nut.part", "v0-1.aa.bb.nut", "v0-1.AA.nut",
            "v0-1.ag.nut", "v0-1.a-a.nut", "v0-1.a/a.nut", "../v0-1.aa.nut", "/v0-1.aa.nut", " v0-1.aa.nut",
            "v0-1.aa.nut\n", "v01-2.aa.nut", "v0-02.aa.nut", "v+0-1.aa.nut", "v-1-1.aa.nut", "v1-1.aa.nut",
            "v2-1.aa.nut", "v1.aa.nut", "v0-1-2.aa.nut", "v0-9223372036854775808.aa.nut", "a.aa.nut", "a00.aa.nut",
            "a-1.aa.nut", "a0-1.aa.nut", "b0.aa.nut", "0.0.aa.nut", "V0-1.aa.nut", "v٠-١.aa.nut",
        ])
    func refusals(_ text: String) {
        #expect(SegmentName(text) == nil)
        #expect(SegmentName(recordName: text + ".json") == nil)
        let json = Array(#"["\#(text.replacing("\n", with: "\\n"))"]"#.utf8)
        #expect(throws: (any Error).self) { try CanonicalJSON.value([SegmentName].self, from: json) }
    }

    @Test("Random names come back, and random changes of them do not become others' names")
    func random() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<2000 {
            let start = Int.random(in: 0...1 << 40, using: &random)
            let subject: SegmentSubject =
                Bool.random(using: &random)
                ? .audio(track: start) : .video(frames: start..<start + Int.random(in: 1...5000, using: &random))
            let name = SegmentName(
                subject: subject, token: String(UInt64.random(in: 0 ... .max, using: &random), radix: 16))
            #expect(SegmentName(name.text) == name)
            var bytes = Array(name.text.utf8)
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 32...126, using: &random)
            let changed = String(decoding: bytes, as: UTF8.self)
            if let read = SegmentName(changed) { #expect(read.text == changed) }
        }
    }

    @Test("Sound comes before video, and frames in the order of the source")
    func order() {
        let subjects: [SegmentSubject] = [
            .video(frames: 9..<12), .audio(track: 1), .video(frames: 0..<9), .audio(track: 0), .video(frames: 0..<3),
        ]
        #expect(
            subjects.sorted() == [
                .audio(track: 0), .audio(track: 1), .video(frames: 0..<3), .video(frames: 0..<9),
                .video(frames: 9..<12),
            ])
    }

    @Test(
        "A content that names no frames is refused", arguments: ["[]", "[3,3]", "[4,3]", "[-1,3]", "[1,2,3]", "null"])
    func contents(_ frames: String) {
        let json = Array(#"{"frames":\#(frames),"target":"x","times":"t"}"#.utf8)
        #expect(throws: DecodingError.self) { try CanonicalJSON.value(SegmentContent.self, from: json) }
    }
}
