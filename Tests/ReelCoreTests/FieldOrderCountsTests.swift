import ReelCore
import Testing

@Suite("Field order of a whole video")
struct FieldOrderCountsTests {
    private func tally(top: Int = 0, bottom: Int = 0, progressive: Int = 0) -> FieldOrderCounts {
        var tally = FieldOrderCounts()
        for _ in 0..<top { tally.add(.topFirst) }
        for _ in 0..<bottom { tally.add(.bottomFirst) }
        for _ in 0..<progressive { tally.add(.progressive) }
        return tally
    }

    private func settled(
        _ tally: FieldOrderCounts, stated: FieldOrder = .unknown, first: FieldOrder = .unknown, knowsOrder: Bool = true
    ) -> String {
        let (order, vary) = tally.settle(stated: stated, first: first, knowsOrder: knowsOrder)
        return "\(order)\(vary ? " varying" : "")"
    }

    @Test("without headers the first frame counts if it is interlaced, otherwise the container")
    func withoutHeaders() {
        #expect(settled(tally(), stated: .topFirst, first: .bottomFirst) == "bottomFirst")
        #expect(settled(tally(), stated: .bottomFirst, first: .progressive) == "bottomFirst")
        #expect(settled(tally(), stated: .unknown, first: .progressive) == "unknown")
        #expect(settled(tally(progressive: 9), stated: .progressive, first: .progressive) == "progressive")
    }

    @Test("headers show what the first frame does not")
    func headers() {
        #expect(settled(tally(top: 9), first: .topFirst) == "topFirst")
        #expect(
            settled(tally(bottom: 9, progressive: 1), stated: .progressive, first: .progressive)
                == "bottomFirst varying")
        #expect(settled(tally(top: 3, bottom: 9), first: .topFirst) == "bottomFirst varying")
        #expect(settled(tally(top: 3, bottom: 9), first: .topFirst, knowsOrder: false) == "topFirst")
        #expect(settled(tally(top: 9), first: .progressive) == "progressive")
    }

    @Test("every frame's flag is mirrored")
    func flags() {
        var stream = Indexes.stream(timeBase: TimeBase(1, 25), frameBytes: 1)
        func flags(_ interlaced: Bool, _ topFirst: Bool) -> [Bool] {
            let fields = stream.fields(.backwards, interlaced: interlaced, topFirst: topFirst)
            return [fields.interlaced, fields.topFirst]
        }
        #expect(flags(true, true) == [true, false] && flags(true, false) == [true, true])
        #expect(flags(false, false) == [false, false])
        stream.fieldOrder = .bottomFirst
        #expect(flags(false, false) == [true, true])
        stream.fieldsVary = true
        #expect(flags(false, false) == [false, true])
        #expect(flags(true, true) == [true, false])
    }
}
