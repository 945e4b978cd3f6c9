import ReelCore
import Testing

/// Numbers that a damaged file or a hostile engine may hold.
@Suite("Hostile numbers")
struct HostileNumberTests {
    @Test("a real number becomes the nearest integer, and no number ends the program")
    func nearest() {
        #expect([2.4, 2.5, -2.5, 0].map(Int64.init(nearest:)) == [2, 3, -3, 0])
        #expect([Double.infinity, 1e300].map(Int64.init(nearest:)) == [1 << 62, 1 << 62])
        #expect(Int64(nearest: -.infinity) == -(1 << 62))
        #expect(Int64(nearest: .nan) == 0)
    }

    @Test("a clock of ticks that no arithmetic can divide is not sound", arguments: [Int64.max, 1_000_000_000_001])
    func clock(ticks: Int64) {
        var target = Plans.target("ffv1").on(TimeBase(1, 1_000_000_000_000))
        #expect(target.isSound)
        target = target.on(TimeBase(1, ticks))
        #expect(!target.isSound)
    }
}
