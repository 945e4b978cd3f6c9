internal import CFFmpeg
internal import Dispatch
internal import Glibc
internal import ReelCore
internal import Synchronization

/// Brings a file to the disk while it is still being written, so that the end is not spent waiting for that; and has room
/// for what follows found in large pieces, which takes file systems less than to find it block by block.
final class Writeback {
    private let path: String
    private let descriptor: Int32
    private let thread = DispatchQueue(label: "reel.writeback")
    /// Bytes of the file that are on their way.
    private var begun: Int64 = 0
    /// Up to where room has been found.
    private var reserved: Int64 = 0
    private let failure = Failure()

    /// Bytes that are worth a write.
    private static let step: Int64 = 16 << 20
    /// Bytes for which room is found at once.
    private static let room: Int64 = 64 << 20

    /// The file must exist.
    init(_ path: String) throws(ReelFailure) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Files.failure(.open, path) }
    }

    deinit {
        thread.sync {}
        close(descriptor)
    }

    /// Hears how much of the file is written.
    func reached(_ size: Int64) {
        guard size - begun >= Self.step else { return }
        let (start, length) = (begun, size - begun)
        begun = size
        // Waits where the disk has enough to do. A failure is told by the last sync as well.
        thread.async { [descriptor] in reel_begin_writing(descriptor, start, length) }
        guard size + Self.step > reserved else { return }
        reserved = max(size, reserved)
        reel_reserve_room(descriptor, reserved, Self.room)
        reserved += Self.room
    }

    /// Begins to bring all of it to the disk, now that it is of its last size; the file may be read meanwhile.
    func begin(size: Int64) {
        thread.async { [descriptor, failure, reserved] in
            // Gives back the room behind its end.
            guard reserved <= size || ftruncate(descriptor, off_t(size)) == 0, fsync(descriptor) == 0 else {
                return failure.code.store(errno, ordering: .relaxed)
            }
        }
    }

    /// Returns when all of it is on the disk.
    func finish() throws(ReelFailure) {
        thread.sync {}
        let code = failure.code.load(ordering: .relaxed)
        guard code == 0 else { throw fileFailure(errno: code, .sync, path) }
    }

    private final class Failure: Sendable {
        /// As errno has it, 0 where there is none.
        let code = Atomic<Int32>(0)
    }
}
