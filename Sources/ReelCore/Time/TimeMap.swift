/// The place of a part of a source in the output: converts times on the source's clock to times on the output's clock.
///
/// Backwards: if the part ends at E, a frame shown during [p, p+d) is shown during [E−p−d, E−p) after the part's place
/// in the output. Forwards: if the part starts at S, it is shown during [p−S, p+d−S). At a speed of v, all of these lengths
/// are divided by v.
package struct TimeMap: Hashable, Codable, Sendable {
    /// The direction in which the part runs in the output.
    package var direction: Direction
    /// The source's clock.
    package var source: TimeBase
    /// The output's clock.
    package var output: TimeBase
    /// S: when the first frame of the part begins, in ticks of the source.
    package var start: Timestamp
    /// E: when the last frame of the part ends, in ticks of the source.
    package var end: Timestamp
    /// When the part begins in the output, in seconds.
    package var offset: Rational
    /// Seconds of the source in a second of the output; positive.
    package var speed: Rational

    package init(
        _ direction: Direction, source: TimeBase, output: TimeBase, start: Timestamp, end: Timestamp,
        offset: Rational = Rational(0), speed: Rational = Rational(1)
    ) {
        self.direction = direction
        self.source = source
        self.output = output
        self.start = start
        self.end = end
        self.offset = offset
        self.speed = speed
    }

    /// The part of the source that is shown, in seconds on its clock; empty if its times are damaged.
    package var span: Range<Rational> {
        let (low, high) = (source.seconds(start), source.seconds(end))
        return low..<max(low, high)
    }

    /// The output's interval, in ticks of `output`, for an interval of the source in ticks of `source`. Each end is
    /// rounded once, from the exact sum: intervals that meet in the source meet in the output, and errors do not add
    /// up.
    package func place(_ span: Interval) -> Interval {
        let (first, last) =
            direction == .backwards ? (end - span.end, end - span.start) : (span.start - start, span.end - start)
        if source == output, offset == Rational(0), speed == Rational(1) {
            return Interval(start: Timestamp(first.count), duration: span.duration)
        }
        let ticks = { (length: Ticks) in
            // A damaged plan may lead beyond every clock.
            min(
                max(output.ticks(in: offset + source.seconds(length) / speed, rounding: .nearest), -Timestamp.bound),
                Timestamp.bound)
        }
        return Interval(start: Timestamp(ticks(first)), duration: Ticks(ticks(last) - ticks(first)))
    }

    /// The time in the output of a moment of the source, each in seconds on its own clock.
    package func place(_ moment: Rational) -> Rational {
        let way = direction == .backwards ? source.seconds(end) - moment : moment - source.seconds(start)
        return offset + way / speed
    }

    /// For how long the output shows the part, in seconds.
    package var duration: Rational { source.seconds(end - start) / speed }
}
