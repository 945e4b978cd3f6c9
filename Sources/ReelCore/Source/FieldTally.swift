/// How many frames of a video are interlaced, and with which field first, by the headers of them all.
public struct FieldTally: Hashable, Sendable {
    public private(set) var topFirst = 0
    public private(set) var bottomFirst = 0
    public private(set) var progressive = 0

    public init() {}

    /// Counts one frame; `.unknown`, as of a field that is half a frame, counts for nothing.
    public mutating func add(_ order: FieldOrder) {
        switch order {
        case .topFirst: topFirst += 1
        case .bottomFirst: bottomFirst += 1
        case .progressive: progressive += 1
        case .unknown: break
        }
    }

    /// The order that holds for the video, and whether frames vary from it. `stated` is the container's word, `first`
    /// the decoder's about the first frame: it knows best, so headers that all say otherwise have been misread.
    /// `knowsOrder` where the headers tell for certain which field comes first, and not only that there are two.
    public func settle(
        stated: FieldOrder, first: FieldOrder, knowsOrder: Bool
    ) -> (order: FieldOrder, vary: Bool) {
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

extension FieldOrder {
    public var isInterlaced: Bool { self == .topFirst || self == .bottomFirst }
}

extension VideoStream {
    /// The flags of a frame that is played in a direction, by those that the decoder gave it. Some decoders leave the
    /// order to the container, so the container's order holds if frames do not vary. If they do, a progressive frame
    /// names the order of the others, for encoders that cannot switch.
    public func fields(
        _ direction: Direction, interlaced: Bool, topFirst: Bool
    ) -> (interlaced: Bool, topFirst: Bool) {
        let order: FieldOrder = interlaced ? (topFirst ? .topFirst : .bottomFirst) : fieldOrder
        return (interlaced || fieldOrder.isInterlaced && !fieldsVary, direction.fields(order) == .topFirst)
    }
}
