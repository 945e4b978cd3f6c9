import ReelCore
import ReelRandom
import Testing

/// Frames at equal distances.
@Suite struct FrameSampleTests {
    @Test(arguments: 0..<50)
    func aSampleLiesInTheMiddleOfAllFrames(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let (wanted, all) = (Int.random(in: 1...20, using: &random), Int.random(in: 1...5000, using: &random))
        let frames = FrameSample(wanted, of: all).frames
        #expect(frames.count == min(wanted, all))
        #expect(frames.allSatisfy { (0..<all).contains($0) })
        let steps = Set(zip(frames, frames.dropFirst()).map { $1 - $0 })
        #expect(steps.count <= 1 && steps.allSatisfy { $0 == all / frames.count })
        // As many frames lie before the first as after the last, or one fewer.
        let (before, after) = (frames[0], all - 1 - frames[frames.count - 1])
        #expect((0...1).contains(after - before))
    }

    @Test func oneFrameIsItself() {
        #expect(FrameSample(7).frames == [7])
        #expect(FrameSample(12, of: 90).frames == Array(stride(from: 6, through: 83, by: 7)))
    }
}
