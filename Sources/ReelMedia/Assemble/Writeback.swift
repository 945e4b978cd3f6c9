internal import CFFmpeg
internal import Dispatch
internal import Glibc
internal import ReelCore
internal import Synchronization

/// Brings a file to the disk while it is still being written, so that the end is not spent waiting for that.
final class Writeback {
    private let path: String
    private let descriptor: Int32
    private let thread = DispatchQueue(label: "reel.writeback")
    /// Bytes of the file that are on their way.
    private var begun: Int64 = 0
    private let failure = Failure()

    /// Bytes that are worth a write.
    private static let step: Int64 = 16 << 20

    /// The file must exist.
    init(_ path: String) throws(ReelFailure) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Files.failure("opening \(path)") }
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
    }

    /// Begins to bring all of it to the disk; the file may be read meanwhile.
    func begin() {
        thread.async { [descriptor, failure] in
            if fsync(descriptor) != 0 { failure.code.store(errno, ordering: .relaxed) }
        }
    }

    /// Returns when all of it is on the disk.
    func finish() throws(ReelFailure) {
        thread.sync {}
        errno = failure.code.load(ordering: .relaxed)
        guard errno == 0 else { throw Files.failure("syncing \(path)") }
    }

    private final class Failure: Sendable {
        /// As errno has it, 0 where there is none.
        let code = Atomic<Int32>(0)
    }
}
