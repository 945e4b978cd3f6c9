import Foundation
import ReelWords
import Testing

@Suite struct LegibleTests {
    static let hidden: [Unicode.Scalar] = [
        "\n", "\r", "\u{1B}", "\u{0}", "\u{7F}", "\u{9B}", "\u{202E}", "\u{2028}", "\u{2029}", "\u{2066}", "\u{FEFF}",
        "\u{E000}", "\u{E0041}", "\u{10FFFD}",
    ]

    @Test(arguments: hidden) func hiddenCharactersAreShownAsCodes(_ scalar: Unicode.Scalar) throws {
        let text = "a\(scalar)b"
        #expect(Legible.line(text) == "a" + scalar.escaped(asASCII: true) + "b")
        let line = Legible.json(String(decoding: try JSONEncoder().encode([text]), as: UTF8.self))
        #expect(line.unicodeScalars.allSatisfy { !LegibleTests.hidden.contains($0) })
        #expect(try JSONDecoder().decode([String].self, from: Data(line.utf8)) == [text])
    }

    @Test func ordinaryTextStays() {
        for text in ["", "plain", "ä b", "日本語", "می\u{200C}خواهم", "👩\u{200D}🚀", "e\u{301}", "שלום"] {
            #expect(Legible.line(text) == text)
            #expect(Legible.json(text) == text)
        }
    }
}
