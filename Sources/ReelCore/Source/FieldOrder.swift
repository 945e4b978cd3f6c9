/// Which field of an interlaced frame comes first in time; `unknown` if unspecified.
package enum FieldOrder: String, Codable, Sendable {
    case unknown, progressive, topFirst, bottomFirst

    /// Whether frames consist of two fields of known order.
    package var isInterlaced: Bool { self == .topFirst || self == .bottomFirst }
}

/// Counts of interlaced and progressive frames of a video, by field order, taken from the headers of all frames.
package struct FieldOrderCounts: Hashable, Sendable {
    package private(set) var topFirst = 0
    package private(set) var bottomFirst = 0
    package private(set) var progressive = 0

    package init() {}

    /// Counts one frame. `.unknown`, which a packet of a single field gives, is not counted.
    package mutating func add(_ order: FieldOrder) {
        switch order {
        case .topFirst: topFirst += 1
        case .bottomFirst: bottomFirst += 1
        case .progressive: progressive += 1
        case .unknown: break
        }
    }

    /// The field order of the video, and whether frames differ in it. The order of the `first` frame, as the decoder
    /// reports it, wins over the headers: if they all disagree, they were parsed wrongly. `stated` is the order in the
    /// container; `knowsOrder` tells whether the headers say which field comes first, and not only that there are two.
    package func settle(stated: FieldOrder, first: FieldOrder, knowsOrder: Bool) -> (order: FieldOrder, vary: Bool) {
        guard topFirst + bottomFirst > 0 else {
            if first.isInterlaced { return (first, false) }
            return (stated == .unknown && progressive > 0 ? .progressive : stated, false)
        }
        let most: FieldOrder = topFirst >= bottomFirst ? .topFirst : .bottomFirst
        let turns = knowsOrder && min(topFirst, bottomFirst) > 0
        if turns { return (most, true) }
        if progressive > 0 { return (first.isInterlaced ? first : most, true) }
        return (first == .unknown ? most : first, false)
    }
}

extension VideoStream {
    /// The field order to flag on a frame that is played in a direction, given the order that the decoder reported.
    /// Some decoders leave the order to the container, so the container's order applies if frames do not vary. If they
    /// do, a progressive frame states the order of the others, for encoders that cannot switch.
    package func fields(
        _ direction: Direction, interlaced: Bool, topFirst: Bool
    ) -> (interlaced: Bool, topFirst: Bool) {
        let order: FieldOrder = interlaced ? (topFirst ? .topFirst : .bottomFirst) : fieldOrder
        return (interlaced || fieldOrder.isInterlaced && !fieldsVary, direction.fields(order) == .topFirst)
    }
}
