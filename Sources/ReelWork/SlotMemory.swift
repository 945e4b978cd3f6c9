/// The memory that a worker's passes share: as many run at once as fit.
public struct SlotMemory: Sendable {
    /// Bytes.
    public let total: Int64
    /// Bytes that running passes may take.
    public private(set) var reserved: Int64 = 0

    public init(total: Int64) { self.total = total }

    /// Bytes that are left for one more pass.
    public var free: Int64 { max(total - reserved, 0) }

    /// A pass with this need begins.
    public mutating func reserve(_ need: Int64) { reserved += need }

    /// A pass with this need has ended.
    public mutating func release(_ need: Int64) { reserved = max(reserved - need, 0) }
}
