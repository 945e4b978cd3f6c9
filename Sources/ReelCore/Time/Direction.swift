/// The direction in which a part of a source runs in the output. It gives the order of frames, chunks, passes and spans,
/// and of fields; times come from `TimeMap`.
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
