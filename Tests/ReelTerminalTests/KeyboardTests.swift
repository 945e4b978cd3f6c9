import ReelTerminal
import Testing

@Suite struct KeyboardTests {
    private func keys(_ text: String) -> [Keyboard.Key] { Keyboard.keys(text.utf8) }

    @Test func whatATerminalSends() {
        #expect(keys("q") == [.quit])
        #expect(keys("\u{1B}[A\u{1B}[B\u{1B}OB") == [.up, .down, .down])
        #expect(keys("\u{1B}[5~\u{1B}[6~\u{1B}[H\u{1B}[F") == [.pageUp, .pageDown, .home, .end])
        #expect(keys("x\u{1B}[3~ä\u{1B}[1;5P") == [])
        #expect(keys("\rs\n\u{7F}\u{1B}") == [.open, .sort, .open, .back, .back])
        #expect(keys("\u{1B}[C\u{1B}[D") == [.open, .back])
        #expect(Keyboard.keys([0xFF, UInt8(ascii: "Q")]) == [.quit])
    }

    @Test func scrollingStaysWithinTheLines() {
        func place(_ keys: [Keyboard.Key], count: Int = 30) -> Int {
            var place = ScrollPlace()
            for key in keys { place.heed(key, count: count, rows: 10) }
            return place.first
        }
        #expect(place([.down, .down, .up]) == 1)
        #expect(place([.up]) == 0)
        #expect(place([.pageDown]) == 9)
        #expect(place([.pageDown, .pageDown, .pageDown]) == 20)
        #expect(place([.end, .pageUp]) == 11)
        #expect(place([.end, .home]) == 0)
        #expect(place([.down], count: 10) == 0)
    }
}
