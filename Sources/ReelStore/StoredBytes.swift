package import ReelCore

/// The bytes of a result or of a source's copy, which are read in ranges. They stay the same even if their name is given to
/// other bytes.
package protocol StoredBytes: Sendable {
    /// Their name in messages.
    var name: String { get }
    /// Their number.
    var bytes: Int64 { get }
    /// Other bytes have another mark: letters, digits and hyphens.
    var mark: String { get }
    /// How many of them are best read at once.
    var piece: Int { get }

    /// A range of the bytes; fewer if there are fewer by now. May block. Throws `.storeUnusable` and the failures of buckets.
    func read(_ range: Range<Int64>) async throws(ReelFailure) -> [UInt8]
}

extension OpenFile: StoredBytes {
    /// So small that many readers who take none of their bytes hold little memory.
    package var piece: Int { 128 << 10 }

    package func read(_ range: Range<Int64>) throws(ReelFailure) -> [UInt8] {
        var failure: ReelFailure?
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { room, count in
            do throws(ReelFailure) {
                count = try read(into: UnsafeMutableRawBufferPointer(room), at: range.lowerBound)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }
}
