/// The place of a part of a source in the output: converts times on the source's clock to times on the output's clock.
///
/// Backwards: if the part ends at E, a frame shown during [p, p+d) is shown during [E−p−d, E−p) after the part's place
/// in the output. Forwards: if the part starts at S, it is shown during [p−S, p+d−S). At a speed of v, all of these
/// lengths are divided by v.
package struct TimeMap: Hashable, Codable, Sendable {
    package var direction: Direction
    package var source: TimeBase
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

    /// The time for which the output shows the part, in seconds.
    package var duration: Rational { source.seconds(end - start) / speed }
}

/// The direction in which a part of a source runs in the output. It gives the order of frames, chunks, passes and
/// spans, and of fields; times come from `TimeMap`.
package enum Direction: String, Codable, CaseIterable, Sendable {
    case forwards, backwards

    /// The frames in the order in which the output shows them; `frames` are in the source's presentation order.
    package func order(_ frames: Range<Int>) -> StrideTo<Int> {
        switch self {
        case .forwards: stride(from: frames.lowerBound, to: frames.upperBound, by: 1)
        case .backwards: stride(from: frames.upperBound - 1, to: frames.lowerBound - 1, by: -1)
        }
    }

    /// Elements of the source's order in the output's order, or the reverse: the conversion is its own inverse.
    package func order<Element>(_ elements: [Element]) -> [Element] {
        self == .forwards ? elements : elements.reversed()
    }

    /// The field order of the output. No line moves: played backwards, the later field comes first.
    package func fields(_ order: FieldOrder) -> FieldOrder {
        switch (self, order) {
        case (.backwards, .topFirst): .bottomFirst
        case (.backwards, .bottomFirst): .topFirst
        default: order
        }
    }
}
