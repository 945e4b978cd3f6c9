import Foundation
import ReelCore
import ReelRandom
import Testing

/// Positions as they are stored, and the labels of frames (SMPTE ST 12-1).
@Suite("Positions")
struct PositionTests {
    private static let rates =
        [Rational(1), Rational(12), Rational(24), Rational(25), Rational(50), Rational(240)] + Timecode.droppingRates

    @Test("every frame has a label of its own, in order, and the label gives the frame", arguments: rates)
    func labels(rate: Rational) throws {
        var random = SplitMix64(seed: 20_261_126)
        for drops in [false, true] where !drops || Timecode.droppingRates.contains(rate) {
            for _ in 0..<20_000 {
                let frame = Int64.random(in: 0..<3_000_000, using: &random)
                let label = Timecode(frames: frame, rate: rate, dropsFrames: drops)
                #expect(try label.frame(at: rate) == frame)
                #expect(Timecode(label.description) == label)
                let next = Timecode(frames: frame + 1, rate: rate, dropsFrames: drops)
                #expect(Position.timecode(label).precedes(.timecode(next)) == true)
            }
        }
    }

    @Test(
        "drop-frame labels keep pace with the clock",
        arguments: [
            ("00:00:59;29", 1799), ("00:01:00;02", 1800), ("00:09:59;29", 17981), ("00:10:00;00", 17982),
            ("01:00:00;00", 107_892), ("24:00:00;00", 2_589_408),
        ])
    func dropped(text: String, frame: Int64) throws {
        #expect(try Timecode(text)?.frame(at: Rational(30_000, 1001)) == frame)
        #expect(Timecode(frames: frame, rate: Rational(30_000, 1001), dropsFrames: true).description == text)
    }

    @Test("a timecode that no frame has says why")
    func flaws() throws {
        let flaws: [(String, Rational?, TimecodeFlaw)] = [
            ("00:00:01:25", Rational(25), .frameTooHigh(rate: Rational(25))),
            ("00:00:01;12", Rational(25), .rateNotDropped(rate: Rational(25))),
            ("00:01:00;01", Rational(30_000, 1001), .labelDropped),
            ("00:11:00;03", Rational(60_000, 1001), .labelDropped),
            ("00:00:01:00", nil, .rateUnknown), ("00:00:01:00", Rational(0), .rateUnknown),
        ]
        for (text, rate, flaw) in flaws {
            let label = try #require(Timecode(text))
            #expect(throws: flaw, "\(text)") { try label.frame(at: rate) }
        }
    }

    @Test("any text is read as a label only if it is one")
    func noise() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<50_000 {
            let text = String(
                (0..<Int.random(in: 0...13, using: &random)).compactMap { _ in
                    "0159:;.f-+ ".randomElement(using: &random)
                })
            guard let position = Position(counting: text) else { continue }
            // What is read is the same when it is written and read again.
            #expect(Position(counting: position.description) == position, "\(text)")
        }
        for text in [
            "", "f", "-3f", "+3f", "1.5f", " 3f", "3F", "1000000000f", "1:2:3", "0:0:0:0:0", "00:60:00:00",
            "00;00:00:00",
        ] {
            #expect(Position(counting: text) == nil, "\(text)")
        }
        #expect(Position(counting: "999999999f") == .frames(999_999_999))
        #expect(Position(counting: "01;00;00;12") == Position(counting: "01:00:00;12"))
    }

    @Test("is stored as a text, seconds as a fraction as ever, and read again")
    func coding() throws {
        let positions =
            [Position.seconds(Rational(3, 2)), .frames(30)] + [Position(counting: "00:00:01;12")].compactMap(\.self)
        let bytes = try JSONEncoder().encode(positions)
        #expect(String(decoding: bytes, as: UTF8.self) == #"["3\/2","30f","00:00:01;12"]"#)
        #expect(try JSONDecoder().decode([Position].self, from: bytes) == positions)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([Position].self, from: Data(#"["soon"]"#.utf8)) }
    }
}
