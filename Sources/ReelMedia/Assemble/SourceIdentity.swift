internal import Glibc
internal import ReelCore

/// A source file's identity and modification time, as the system reports them, to detect a change while the file is
/// read.
struct SourceIdentity: Equatable {
    private let device: dev_t
    private let node: ino_t
    private let size: off_t
    private let seconds: Int
    private let nanoseconds: Int

    init(_ path: String) throws(ReelFailure) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw sourceFailure(errno: errno, path) }
        (device, node, size) = (status.st_dev, status.st_ino, status.st_size)
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }

    /// Throws `.sourceReplaced` if the file at this path is no longer the same.
    func check(_ path: String) throws(ReelFailure) {
        guard try SourceIdentity(path) == self else { throw ReelFailure(.sourceReplaced(path: path)) }
    }
}
