/// Cuts overlapping spans into spans that do not overlap.
package enum OverlappingSpans {
    /// The most spans shown at once: more texts than this are not readable.
    package static let mostAtOnce = 32

    /// Every span of time in which something is shown, in order, each with the places in `spans` of what is shown in
    /// it. Spans beyond the first 32 at one time are left out.
    package static func flattened(_ spans: [Range<Rational>]) -> [(span: Range<Rational>, members: [Int])] {
        let order = spans.indices.sorted { (spans[$0].lowerBound, $0) < (spans[$1].lowerBound, $1) }
        let bounds = Set(spans.flatMap { [$0.lowerBound, $0.upperBound] }).sorted()
        var result: [(span: Range<Rational>, members: [Int])] = []
        var (waiting, active) = (order[...], [Int]())
        for (start, end) in zip(bounds, bounds.dropFirst()) {
            active.removeAll { spans[$0].upperBound <= start }
            while let next = waiting.first, spans[next].lowerBound <= start {
                waiting.removeFirst()
                if spans[next].upperBound > start, active.count < mostAtOnce { active.append(next) }
            }
            if !active.isEmpty { result.append((start..<end, active.sorted())) }
        }
        return result
    }
}
