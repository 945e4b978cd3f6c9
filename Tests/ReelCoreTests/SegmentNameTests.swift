import Foundation
import ReelCore
import ReelRandom
import Testing

@Suite("Names of segments")
struct SegmentNameTests {
    private static let names: [(String, SegmentName)] = [
        ("c0v120-360.5f0a.nut", name(0, .video(frames: 120..<360), token: "5f0a")),
        ("c17v0-1.0.nut", name(17, .video(frames: 0..<1), token: "0")),
        ("c0a0.0123456789abcdef.nut", name(0, .audio(track: 0), token: "0123456789abcdef")),
        ("c2a12.ff.nut", name(2, .audio(track: 12), token: "ff")),
    ]

    private static func name(_ clip: Int, _ part: SegmentPart, token: String) -> SegmentName {
        SegmentName(subject: SegmentSubject(clip: clip, part: part), token: token)
    }

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
            "", ".", "c0v0-1", "c0v0-1.aa", "c0v0-1..nut", "c0v0-1.aa.mkv", "c0v0-1.aa.nut.part", "c0v0-1.aa.bb.nut",
            "c0v0-1.AA.nut", "c0v0-1.ag.nut", "c0v0-1.a-a.nut", "c0v0-1.a/a.nut", "../c0v0-1.aa.nut",
            "/c0v0-1.aa.nut", " c0v0-1.aa.nut", "c0v0-1.aa.nut\n", "c0v01-2.aa.nut", "c0v0-02.aa.nut",
            "c0v+0-1.aa.nut", "c0v-1-1.aa.nut", "c0v1-1.aa.nut", "c0v2-1.aa.nut", "c0v1.aa.nut", "c0v0-1-2.aa.nut",
            "c0v0-9223372036854775808.aa.nut", "c0a.aa.nut", "c0a00.aa.nut", "c0a-1.aa.nut", "c0a0-1.aa.nut",
            "c0b0.aa.nut", "c0.0.aa.nut", "c0V0-1.aa.nut", "c0v٠-١.aa.nut", "v0-1.aa.nut", "a0.aa.nut", "cv0-1.aa.nut",
            "c00v0-1.aa.nut", "c-1v0-1.aa.nut", "c+1v0-1.aa.nut", "C0v0-1.aa.nut", "c0c0v0-1.aa.nut",
            "c9223372036854775808a0.aa.nut", "d0a0.aa.nut", "c٠a0.aa.nut",
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
            let part: SegmentPart =
                Bool.random(using: &random)
                ? .audio(track: start) : .video(frames: start..<start + Int.random(in: 1...5000, using: &random))
            let name = Self.name(
                Int.random(in: 0...300, using: &random), part,
                token: String(UInt64.random(in: 0 ... .max, using: &random), radix: 16))
            #expect(SegmentName(name.text) == name)
            var bytes = Array(name.text.utf8)
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 32...126, using: &random)
            let changed = String(decoding: bytes, as: UTF8.self)
            if let read = SegmentName(changed) { #expect(read.text == changed) }
        }
    }

    @Test("Clips come in order, sound before video, and frames in the order of the source")
    func order() {
        let parts: [SegmentPart] = [
            .video(frames: 9..<12), .audio(track: 1), .video(frames: 0..<9), .audio(track: 0), .video(frames: 0..<3),
        ]
        #expect(
            parts.sorted() == [
                .audio(track: 0), .audio(track: 1), .video(frames: 0..<3), .video(frames: 0..<9),
                .video(frames: 9..<12),
            ])
        let subjects = [(1, 0..<3), (0, 3..<6), (0, 0..<3)].map { clip, frames in
            SegmentSubject(clip: clip, part: .video(frames: frames))
        }
        #expect(subjects.sorted() == subjects.reversed())
    }

    @Test(
        "A content that names no frames is refused", arguments: ["[]", "[3,3]", "[4,3]", "[-1,3]", "[1,2,3]", "null"])
    func contents(_ frames: String) {
        let json = Array(#"{"frames":\#(frames),"source":0,"target":"x","times":"t"}"#.utf8)
        #expect(throws: DecodingError.self) { try CanonicalJSON.value(SegmentContent.self, from: json) }
    }
}
