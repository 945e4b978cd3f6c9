internal import Glibc
internal import ReelCore

/// Which file a source is and when it was last written to, as the system says: for noticing a change while it is read.
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

    /// Throws `.sourceReplaced` where the file at this path is not the same any more.
    func check(_ path: String) throws(ReelFailure) {
        guard try SourceIdentity(path) == self else { throw ReelFailure(.sourceReplaced(path: path)) }
    }
}
