/// The memory that a worker's passes share: as many run at once as fit.
package struct MemoryPool: Sendable {
    /// Bytes that all passes may take together.
    package let total: Int64
    /// Bytes that running passes may take.
    package private(set) var reserved: Int64 = 0

    /// - Parameter total: bytes that all passes may take together.
    package init(total: Int64) { self.total = total }

    /// Bytes that are left for one more pass; 0 if a pass takes more than the total.
    package var free: Int64 { max(total - reserved, 0) }

    /// Takes the bytes that a pass needs when it begins.
    package mutating func reserve(_ need: Int64) { reserved += need }

    /// Gives the bytes back when the pass has ended.
    package mutating func release(_ need: Int64) { reserved = max(reserved - need, 0) }
}
