/// Frames of a source at equal distances.
package struct FrameSample: Hashable, Codable, Sendable {
    /// The first of them, in presentation order.
    package var first: Int
    /// From one to the next; positive.
    package var step: Int
    /// How many; positive.
    package var count: Int

    /// One frame.
    package init(_ frame: Int) { self.init(first: frame, step: 1, count: 1) }

    /// This many frames of `all`, or as many as there are, each in the middle of its part.
    package init(_ count: Int, of all: Int) {
        let count = max(min(count, all), 1)
        let step = max(all / count, 1)
        self.init(first: max(all - 1 - step * (count - 1), 0) / 2, step: step, count: count)
    }

    private init(first: Int, step: Int, count: Int) {
        self.first = first
        self.step = step
        self.count = count
    }

    /// The frames, ascending.
    package var frames: [Int] { (0..<count).map { first + $0 * step } }
}
