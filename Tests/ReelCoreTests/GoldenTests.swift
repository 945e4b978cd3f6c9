import ReelCore
import ReelTestSupport
import Testing

@Suite("What is stored and sent, byte by byte")
struct GoldenTests {
    private func expect<Value: Codable & Equatable>(
        _ value: Value, is name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try Golden.expect(CanonicalJSON.bytes(of: value), is: name, sourceLocation: sourceLocation)
        let read = try CanonicalJSON.value(Value.self, from: Golden.read(name))
        #expect(read == value, sourceLocation: sourceLocation)
    }

    @Test("An index, in hexadecimal, and the parameters in it")
    func index() throws {
        let index = GoldenValues.index
        let bytes = index.encoded()
        let lines = stride(from: 0, to: bytes.count, by: 32).map { start in
            Hexadecimal.text(bytes[start..<min(start + 32, bytes.count)])
        }
        try Golden.expect(Array(lines.joined(separator: "\n").utf8), is: "index.v6.hex")
        let digits = String(decoding: try Golden.read("index.v6.hex"), as: UTF8.self).filter { $0 != "\n" }
        let kept = stride(from: 0, to: digits.count, by: 2).compactMap { place in
            UInt8(digits.dropFirst(place).prefix(2), radix: 16)
        }
        #expect(try SourceIndex(decoding: kept) == index)

        // Magic and version, then the length in seven bits a byte, low ones first.
        #expect(bytes[7] == SourceIndex.version)
        var (length, place, shift) = (0, 8, 0)
        repeat {
            length |= Int(bytes[place] & 0x7F) << shift
            (place, shift) = (place + 1, shift + 7)
        } while bytes[place - 1] >= 0x80
        try Golden.expect(Array(bytes[place..<place + length]), is: "index-parameters.v6.json")
    }

    @Test("A plan with every kind of pass")
    func plan() throws {
        try expect(GoldenValues.plan, is: "plan.v12.json")
        #expect(try Plan.decoded(from: Golden.read("plan.v12.json")) == GoldenValues.plan)
    }

    @Test("A video that is passed through: the encoder is copy, and settings of an encoder are refused")
    func passthrough() throws {
        try expect(GoldenValues.passthrough, is: "video-passthrough.json")
        let text = String(decoding: try Golden.read("video-passthrough.json"), as: UTF8.self)
        func read(_ part: String, as other: String) throws -> VideoTarget {
            #expect(text.contains(part))
            return try CanonicalJSON.value(VideoTarget.self, from: Array(text.replacing(part, with: other).utf8))
        }
        for (part, other) in [
            (#""threads":1"#, #""threads":4"#), (#""options":[]"#, #""options":[{"name":"crf","value":"18"}]"#),
            (#""threads":1"#, #""bitrate":"source","threads":1"#), (#""keyFrameInterval":1"#, #""keyFrameInterval":2"#),
        ] {
            #expect(throws: DecodingError.self, "\(other)") { try read(part, as: other) }
        }
    }

    @Test("A plan that passes video through and still has passes of video is refused")
    func passthroughWithPasses() throws {
        var plan = GoldenValues.plan
        plan.video = GoldenValues.passthrough
        #expect(throws: DecodingError.self) { try Plan.decoded(from: CanonicalJSON.bytes(of: plan)) }
        plan.passes = [.audio(place: 0)]
        #expect(try Plan.decoded(from: CanonicalJSON.bytes(of: plan)) == plan)
    }

    @Test("Records of segments, and what a pass leaves on the board")
    func segments() throws {
        try expect(GoldenValues.result.segments[0], is: "segment-record.v3.video.json")
        try expect(GoldenValues.result.segments[1], is: "segment-record.v3.audio.json")
        try expect(GoldenValues.result, is: "pass-result.json")
    }

    @Test("A spec with every option, and one with as few as can be")
    func specs() throws {
        try expect(GoldenValues.spec, is: "job-spec.json")
        try expect(JobSpec(container: .webm), is: "job-spec.least.json")
    }
}
