import Foundation
import ReelCore
import ReelWords
import Testing

@Suite("Words")
struct WordsTests {
    private var sentences: [String] { FailureReason.samples.map(\.words) + Diagnostic.samples.map(\.words) }

    @Test("Every code has words of its own: one line, no full stop, no option or program")
    func sentencesAreFit() {
        // A failure that carries another one may consist of the other's words alone.
        let carriers: [FailureReason.CodingKeys] = [.workspaceUnusable, .redisUnusable]
        let own = FailureReason.samples.filter { !carriers.map(\.stringValue).contains($0.code) }
        #expect(Set(own.map(\.words)).count == own.count)
        #expect(Set(Diagnostic.samples.map(\.words)).count == Diagnostic.samples.count)
        let other = /--[a-z]|reel-(coordinator|worker)|REEL_/
        for sentence in sentences {
            #expect(!sentence.isEmpty && !sentence.contains("\n") && sentence.last != ".", "\(sentence)")
            #expect(sentence.firstMatch(of: other) == nil, "\(sentence)")
        }
    }

    @Test("Every code has one meaning of its own and one remedy, whatever its facts are: one sentence each")
    func tables() {
        func check(_ rows: [(code: String, text: CodeText)]) {
            for (code, text) in rows {
                for sentence in [text.meaning, text.remedy] {
                    let isFit = sentence.last == "." && !sentence.contains("\n") && !sentence.contains("|")
                    #expect(isFit, "\(code): \(sentence)")
                }
            }
            let codes = Set(rows.map(\.code))
            #expect(Set(rows.map(\.text.meaning)).count == codes.count)
            #expect(Set(rows.map { [$0.code, $0.text.meaning, $0.text.remedy] }).count == codes.count)
        }
        check(FailureReason.samples.map { ($0.code, $0.text) })
        check(Diagnostic.samples.map { ($0.code, $0.text) })
    }

    @Test("Messages contain their facts")
    func examples() {
        #expect(
            FailureReason.memoryTooSmall(allowed: 300 << 20, needed: (430 << 20) + 1, copies: false).words
                == """
                300 MiB of memory is too little: a pass of this video takes 431 MiB at least; \
                allow that much, or choose a faster preset, another codec or another container
                """)
        #expect(
            FailureReason.copyImpossible(obstacle: .packet(number: 3, time: Rational(1, 8), fault: .interlaced)).words
                == """
                the video's packets cannot be copied: packet 3 at 0.125 s is interlaced: its fields would come in the \
                wrong order; encode it again instead
                """)
        #expect(
            FailureReason.engineDied(
                place: .pass(number: 7, frames: 240..<480), end: .signalled(signal: 9), lastWords: "bad slice"
            ).words
                == """
                engine died of signal 9 (SIGKILL: perhaps the kernel ran out of memory) at frames 240..<480 of pass 7; \
                it last said: bad slice
                """)
        let moments = Moments(
            count: 4,
            places: [
                Moments.Run(frames: 31..<32, first: Rational(31, 25), last: Rational(31, 25)),
                Moments.Run(frames: 35..<38, first: Rational(7, 5), last: Rational(37, 25)),
            ])
        #expect(
            Diagnostic.framesConcealed(frames: moments).words
                == "4 frames decoded with errors, the decoder concealed them: at 1.240 s, 1.400 s to 1.480 s")
    }

    @Test("the moments of a hostile engine have words, too")
    func hostileMoments() {
        let place = Moments.Run(frames: Int.min..<Int.max, first: Rational(0), last: Rational(1, 3))
        let moments = Moments(count: 1, places: [place], more: 1)
        #expect(Diagnostic.framesConcealed(frames: moments).words.hasSuffix("at 0.000 s to 0.333 s and 1 more places"))
    }

    @Test("Rewording changes no stored byte: nothing that is stored holds a sentence")
    func storedBytes() throws {
        let diagnostics = Diagnostic.samples
        // One message only quotes another program: the quotation is a fact.
        let quotation = FailureReason.CodingKeys.unexpected.stringValue
        let reasons = FailureReason.samples.filter { $0.code != quotation }
        let index = Stored.index(diagnostics)
        let plan = try Planner(slots: 1).plan(
            PlanInput(
                indexes: [index], indexHashes: [""], spec: JobSpec(container: .mkv), video: Stored.target,
                diagnostics: diagnostics))
        #expect(plan.diagnostics == diagnostics)
        let content = SegmentContent(part: .video(frames: 0..<8), times: "e3b0", target: "e3b0")
        let record = SegmentRecord(
            content: content, clip: 0, token: "a1", frames: 8, packets: 8, bytes: 1000, checksum: "",
            timeBase: TimeBase(1, 25),
            reorderDepth: 0, extradataHash: "", diagnostics: diagnostics)
        let result = PassResult(segments: [record], statistics: PassStatistics(), diagnostics: diagnostics)
        let stored = [
            index.encoded(), try Array(JSONEncoder().encode(plan)), try Array(JSONEncoder().encode(result)),
            try Array(JSONEncoder().encode(reasons.map { ReelFailure($0) })),
        ].map { String(decoding: $0, as: UTF8.self).replacing("\\/", with: "/") }
        // The codes are there, so the search looked at the right text.
        for text in stored.dropLast() {
            for diagnostic in diagnostics { #expect(text.contains("\"\(diagnostic.code)\":{")) }
        }
        // A single word, such as "interrupted", may be a code as well.
        for sentence in diagnostics.map(\.words) + reasons.map(\.words) where sentence.contains(" ") {
            for text in stored { #expect(!text.contains(sentence), "\(sentence)") }
        }
    }
}

/// A source and a target, to test how they are stored.
private enum Stored {
    static let target = VideoTarget.encode(
        VideoEncoding(
            encoder: "libx264",
            format: OutputFormat(
                timeBase: TimeBase(1, 25), width: 320, height: 180, pixelFormat: "yuv420p", frameRate: Rational(25)),
            options: [], bitrate: nil, threads: 1, keyFrameInterval: 250,
            identity: EncoderIdentity(build: "libx264 Lavc59.37.100", extradataHash: "")))

    /// Eight frames, of which the first is a key.
    static func index(_ diagnostics: [Diagnostic]) -> SourceIndex {
        var stream = VideoStream(
            index: 0, codec: "h264", width: 320, height: 180, pixelFormat: "yuv420p", timeBase: TimeBase(1, 25),
            frameRate: Rational(25), sampleAspectRatio: nil, displayMatrix: nil, colour: ColourTags(),
            fieldOrder: .progressive, reorderDepth: 0, frameBytes: 86_400, details: TrackDetails())
        stream.losses = diagnostics
        let packets = (0..<8 as Range<Int>).map { (place: Int) -> PacketEntry in
            PacketEntry(
                pts: Timestamp(Int64(place)), dts: Timestamp(Int64(place)), size: 100, position: Int64(place * 100),
                flags: place == 0 ? .key : [])
        }
        let frames = (0..<8 as Range<Int>).map { (place: Int) -> FrameEntry in
            FrameEntry(interval: Interval(start: Timestamp(Int64(place)), duration: Ticks(1)), packet: Int32(place))
        }
        return SourceIndex(
            format: "matroska,webm", fileSize: 1000, startTime: Rational(0),
            video: VideoTrack(
                stream: stream, packets: packets, frames: frames,
                randomAccessPoints: [RandomAccessPoint(packet: 0, frame: 0)]),
            audio: [], metadata: [],
            passthrough: .impossible(why: .packet(number: 3, time: Rational(1, 8), fault: .cutOff)),
            diagnostics: diagnostics)
    }
}
