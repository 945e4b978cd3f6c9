/// Where a part of a source lies in the output: takes times on the source's clock to times on the output's.
///
/// Backwards, what is shown during [p, p+d) of a part that ends at E is shown during [E−p−d, E−p) after the part's place
/// in the output; forwards, during [p−S, p+d−S), where the part starts at S.
public struct TimeMap: Hashable, Codable, Sendable {
    public var direction: Direction
    /// The source's clock.
    public var source: TimeBase
    /// The output's clock.
    public var output: TimeBase
    /// S and E: when the first frame of the part begins in the source, and when its last one ends.
    public var start: Timestamp
    public var end: Timestamp
    /// When the part begins in the output, in seconds.
    public var offset: Rational

    public init(
        _ direction: Direction, source: TimeBase, output: TimeBase, start: Timestamp, end: Timestamp,
        offset: Rational = Rational(0)
    ) {
        self.direction = direction
        self.source = source
        self.output = output
        self.start = start
        self.end = end
        self.offset = offset
    }

    /// The part of the source that is shown, in seconds on its clock; empty where its times are damaged.
    public var span: Range<Rational> {
        let (low, high) = (source.seconds(start), source.seconds(end))
        return low..<max(low, high)
    }

    /// Where the output shows what the source shows during `span`, by both clocks. Each end is rounded once, from the
    /// exact sum, so that spans which meet in the source meet in the output, and nothing drifts.
    public func place(_ span: Interval) -> Interval {
        let (first, last) =
            direction == .backwards ? (end - span.end, end - span.start) : (span.start - start, span.end - start)
        if source == output, offset == Rational(0) {
            return Interval(start: Timestamp(first.count), duration: span.duration)
        }
        let ticks = { (length: Ticks) in output.ticks(in: offset + source.seconds(length), rounding: .nearest) }
        return Interval(start: Timestamp(ticks(first)), duration: Ticks(ticks(last) - ticks(first)))
    }

    /// When the output shows a moment of the source, both in seconds on their clocks.
    public func place(_ moment: Rational) -> Rational {
        direction == .backwards ? offset + source.seconds(end) - moment : offset + moment - source.seconds(start)
    }

    public enum CodingKeys: String, CodingKey {
        case direction = "direction"
        case source = "source"
        case output = "output"
        case start = "start"
        case end = "end"
        case offset = "offset"
    }
}
