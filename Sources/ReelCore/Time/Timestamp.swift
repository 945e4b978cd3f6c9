/// A point on a stream's clock, in ticks of its time base.
package struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Ticks since the clock's zero; may be negative.
    package var ticks: Int64

    /// The point `ticks` ticks after the clock's zero.
    package init(_ ticks: Int64) { self.ticks = ticks }

    /// The largest magnitude accepted for a timestamp, in ticks. It is far beyond every clock, and sums of a few such
    /// values do not overflow. Files that exceed it are damaged or hostile.
    package static let bound: Int64 = 1 << 60

    /// The number of ticks.
    package var description: String { "\(ticks)" }

    /// Whether `a` is earlier than `b`.
    package static func < (a: Timestamp, b: Timestamp) -> Bool { a.ticks < b.ticks }
    /// The time `b` later. Overflow is a programming error.
    package static func + (a: Timestamp, b: Ticks) -> Timestamp { Timestamp(a.ticks + b.count) }
    /// The time `b` earlier. Overflow is a programming error.
    package static func - (a: Timestamp, b: Ticks) -> Timestamp { Timestamp(a.ticks - b.count) }
    /// The length from `b` to `a`. Overflow is a programming error.
    package static func - (a: Timestamp, b: Timestamp) -> Ticks { Ticks(a.ticks - b.ticks) }
}

/// A length of time, or a difference between two times, in ticks of a stream's time base.
package struct Ticks: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Ticks; negative for a difference to a later time.
    package var count: Int64

    /// A length of `count` ticks.
    package init(_ count: Int64) { self.count = count }

    /// No ticks.
    package static let zero = Ticks(0)

    /// The number of ticks.
    package var description: String { "\(count)" }

    /// Whether `a` has fewer ticks than `b`.
    package static func < (a: Ticks, b: Ticks) -> Bool { a.count < b.count }
    /// The sum. Overflow is a programming error.
    package static func + (a: Ticks, b: Ticks) -> Ticks { Ticks(a.count + b.count) }
    /// The difference. Overflow is a programming error.
    package static func - (a: Ticks, b: Ticks) -> Ticks { Ticks(a.count - b.count) }
}

/// The half-open span [start, end) during which something is shown.
package struct Interval: Hashable, Codable, Sendable {
    /// When the interval starts.
    package var start: Timestamp
    /// The length; may be 0.
    package var duration: Ticks

    package init(start: Timestamp, duration: Ticks) {
        self.start = start
        self.duration = duration
    }

    /// The end, which is not part of the interval.
    package var end: Timestamp { start + duration }

    /// The interval in the reversed video: [E−end, E−start), if the argument `end` is E, the end of the last frame.
    package func mirrored(at end: Timestamp) -> Interval {
        Interval(start: Timestamp((end - self.end).count), duration: duration)
    }
}

/// Timestamps and lengths are encoded as plain integers. Decoding rejects values beyond ±`Timestamp.bound`.
extension Timestamp: Codable {
    /// Throws `DecodingError` beyond ±`bound`.
    package init(from decoder: any Decoder) throws { ticks = try boundedTicks(from: decoder) }
    /// Encodes the number of ticks.
    package func encode(to encoder: any Encoder) throws { try ticks.encode(to: encoder) }
}

extension Ticks: Codable {
    /// Throws `DecodingError` beyond ±`Timestamp.bound`.
    package init(from decoder: any Decoder) throws { count = try boundedTicks(from: decoder) }
    /// Encodes the number of ticks.
    package func encode(to encoder: any Encoder) throws { try count.encode(to: encoder) }
}

private func boundedTicks(from decoder: any Decoder) throws -> Int64 {
    let ticks = try Int64(from: decoder)
    guard (-Timestamp.bound...Timestamp.bound).contains(ticks) else {
        throw DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "no clock shows this time"))
    }
    return ticks
}
