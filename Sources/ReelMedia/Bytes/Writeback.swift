internal import CFFmpeg
internal import Glibc
internal import Synchronization

/// Writes a file to disk while it is still growing, so that the final sync is short. It also reserves room for the rest
/// of a large file in large pieces, which costs file systems less than block by block.
final class Writeback {
    /// Its owner's.
    private let descriptor: Int32
    private let thread = WorkQueue()
    /// Bytes of the file whose writeback has begun.
    private var begun: Int64 = 0
    /// The offset up to which room is reserved.
    private var reserved: Int64 = 0
    private let failure = Failure()

    /// The least number of bytes that are worth a writeback.
    private static let step: Int64 = 16 << 20
    /// The bytes reserved at a time.
    private static let room: Int64 = 64 << 20

    /// - Parameter descriptor: open for writing, and for longer than this object exists.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Reports how many bytes of the file are written.
    func reached(_ size: Int64) {
        guard size - begun >= Self.step else { return }
        let (start, length) = (begun, size - begun)
        begun = size
        // This call waits if the disk is busy. The last sync also reports a failure.
        thread.add { [descriptor] in reel_begin_writing(descriptor, start, length) }
        guard size + Self.step > reserved else { return }
        reserved = max(size, reserved)
        reel_reserve_room(descriptor, reserved, Self.room)
        reserved += Self.room
    }

    /// Begins the writeback of the whole file, now that it has its final size. The file may be read meanwhile.
    func begin(size: Int64) {
        thread.add { [descriptor, failure, reserved] in
            // Releases the reserved room after the file's end.
            guard reserved <= size || ftruncate(descriptor, off_t(size)) == 0, fsync(descriptor) == 0 else {
                return failure.code.store(errno, ordering: .relaxed)
            }
        }
    }

    /// Waits until nothing of it goes on.
    func wait() { thread.wait() }

    /// Waits until the whole file is on disk.
    func finish() throws(ByteFault) {
        wait()
        let code = failure.code.load(ordering: .relaxed)
        guard code == 0 else { throw ByteFault(errno: code) }
    }

    private final class Failure: Sendable {
        /// The errno of the first failure; 0 if there is none.
        let code = Atomic<Int32>(0)
    }
}
