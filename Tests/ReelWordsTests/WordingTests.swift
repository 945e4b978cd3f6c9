import ReelCore
import ReelWords
import Testing

@Suite("Quantities in words")
struct WordingTests {
    @Test("People read times and sizes that they can type back")
    func wording() {
        #expect(Wording.seconds(Rational(12345, 1000)) == "12.345 s")
        #expect(Wording.seconds(Rational(-1, 100)) == "-0.010 s")
        #expect(Wording.seconds(Rational(2, 3)) == "0.667 s")
        #expect(Wording.mebibytes(430 << 20) == "430 MiB")
        #expect(Wording.mebibytes((430 << 20) + 1) == "431 MiB")
    }
}
