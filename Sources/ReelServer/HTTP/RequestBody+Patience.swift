internal import Hummingbird
internal import NIOCore

extension RequestBody.AsyncIterator {
    /// The next bytes of a body; nil after the last. Throws the problem if none come in that time: a caller who has sent a
    /// head can leave its body open for as long as it likes.
    mutating func next(within time: Duration, orThrow problem: Problem) async throws -> ByteBuffer? {
        guard time > .zero else { throw problem }
        // Safe because one task alone uses it, and has ended before this returns.
        nonisolated(unsafe) var iterator = self
        defer { self = iterator }
        return try await withThrowingTaskGroup(of: ByteBuffer?.self) { group in
            group.addTask { try await iterator.next() }
            group.addTask {
                try await Task.sleep(for: time)
                throw problem
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}
