/// Cuts spans that overlap into spans that do not.
public enum OverlappingSpans {
    /// More at once nobody could read.
    public static let mostAtOnce = 32

    /// In order of time: every span in which something is shown, and the places of what is shown in it. What would
    /// come on top of 32 others is in none.
    public static func flattened(_ spans: [Range<Rational>]) -> [(span: Range<Rational>, members: [Int])] {
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
