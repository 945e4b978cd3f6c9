/// Which way a part of a source runs in the output. Whatever depends on that asks here.
public enum Direction: String, Codable, CaseIterable, Sendable {
    case forwards, backwards

    /// Frames in the order in which the output shows them, given in the source's presentation order.
    public func order(_ frames: Range<Int>) -> StrideTo<Int> {
        switch self {
        case .forwards: stride(from: frames.lowerBound, to: frames.upperBound, by: 1)
        case .backwards: stride(from: frames.upperBound - 1, to: frames.lowerBound - 1, by: -1)
        }
    }

    /// Elements in the order of the output, given in the order of the source; also the other way round.
    public func order<Element>(_ elements: [Element]) -> [Element] {
        self == .forwards ? elements : elements.reversed()
    }

    /// The field order of the output. No line moves: played backwards, the field that came last is shown first.
    public func fields(_ order: FieldOrder) -> FieldOrder {
        switch (self, order) {
        case (.backwards, .topFirst): .bottomFirst
        case (.backwards, .bottomFirst): .topFirst
        default: order
        }
    }
}
