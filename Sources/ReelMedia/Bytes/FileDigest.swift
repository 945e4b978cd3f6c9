internal import Crypto
internal import Dispatch
internal import ReelCore

/// SHA-256 of a file's bytes as they are read, taken on a thread of its own while the next ones are read.
final class FileDigest {
    private let thread = WorkQueue()
    /// Whether the block that is not being filled has been hashed.
    private let room = DispatchSemaphore(value: 1)
    private let hash = Hash()
    /// Filled and hashed by turns.
    private let blocks = [Block(), Block()]
    private var turn = 0
    private var finished: String?

    deinit { thread.wait() }

    /// Takes in the bytes that follow; nothing can be added once the digest was asked for.
    func add(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let taken = blocks[turn].fill(with: UnsafeRawBufferPointer(rebasing: rest))
            rest = rest.dropFirst(taken)
            if blocks[turn].isFull { send() }
        }
    }

    /// The digest of all that was added, in hexadecimal.
    func finish() -> String {
        if let finished { return finished }
        send()
        thread.wait()
        let text = hash.finish()
        finished = text
        return text
    }

    private func send() {
        let block = blocks[turn]
        thread.add { [hash, room] in
            hash.take(block)
            room.signal()
        }
        room.wait()
        turn = 1 - turn
    }

    /// `@unchecked` because a block is filled only while the thread has none of it to hash.
    private final class Block: @unchecked Sendable {
        private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
        private var count = 0

        deinit { room.deallocate() }

        var isFull: Bool { count == room.count }
        var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: room[..<count]) }

        /// Returns how many bytes there was room for.
        func fill(with bytes: UnsafeRawBufferPointer) -> Int {
            let taken = min(bytes.count, room.count - count)
            UnsafeMutableRawBufferPointer(rebasing: room[count..<count + taken]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
            count += taken
            return taken
        }

        func empty() { count = 0 }
    }

    /// `@unchecked` because only the thread uses it and, at the end, the caller that waits for it.
    private final class Hash: @unchecked Sendable {
        private var hash = SHA256()

        func take(_ block: Block) {
            hash.update(bufferPointer: block.bytes)
            block.empty()
        }

        func finish() -> String { Hexadecimal.text(hash.finalize()) }
    }
}
