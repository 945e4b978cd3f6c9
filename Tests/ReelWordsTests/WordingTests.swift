import ReelCore
import ReelWords
import Testing

@Suite("Quantities in words")
struct WordingTests {
    @Test("Times and sizes are printed in forms that are accepted as input")
    func wording() {
        #expect(Wording.seconds(Rational(12345, 1000)) == "12.345 s")
        #expect(Wording.seconds(Rational(-1, 100)) == "-0.010 s")
        #expect(Wording.seconds(Rational(2, 3)) == "0.667 s")
        #expect(Wording.mebibytes(430 << 20) == "430 MiB")
        #expect(Wording.mebibytes((430 << 20) + 1) == "431 MiB")
    }
}
