internal import Glibc
internal import ReelCore

/// What follows from an error that the operating system reports at a file. Such an error is one of the host: another host
/// may be able to do what this one cannot.
package enum SystemFault: CaseIterable, Sendable {
    /// The disk, or a quota on it, is full.
    case full
    /// The system has no memory for it.
    case memory
    /// It may go well soon, on this host or another.
    case passing
    /// It will not go well on this host: its mounts, permissions, limits or disks are in the way.
    case lasting

    /// What `errno` means of a file that is written or read. An error that has no row may pass.
    package init(errno: Int32, writing: Bool) {
        // What cannot be read back is lost on this disk; what cannot be written finds another place.
        self = errno == EIO ? (writing ? .passing : .lasting) : SystemFault.rows[errno] ?? .passing
    }

    /// By error number; EIO apart.
    package static let rows: [Int32: SystemFault] = [
        ENOSPC: .full, EDQUOT: .full,
        ENOMEM: .memory,
        EINTR: .passing, EAGAIN: .passing, EBUSY: .passing, ETXTBSY: .passing, ENFILE: .passing, ENOBUFS: .passing,
        ETIMEDOUT: .passing, ENETDOWN: .passing, ENETUNREACH: .passing, ENETRESET: .passing, EHOSTDOWN: .passing,
        EHOSTUNREACH: .passing, ECONNABORTED: .passing, ECONNREFUSED: .passing, ECONNRESET: .passing,
        EROFS: .lasting, EACCES: .lasting, EPERM: .lasting, ESTALE: .lasting, ENOTCONN: .lasting, ESHUTDOWN: .lasting,
        EMFILE: .lasting, EFBIG: .lasting, ENOENT: .lasting, ENOTDIR: .lasting, EISDIR: .lasting, ELOOP: .lasting,
        ENAMETOOLONG: .lasting, ENODEV: .lasting, ENXIO: .lasting, EREMOTEIO: .lasting, EUCLEAN: .lasting,
        EBADMSG: .lasting, EOVERFLOW: .lasting, EOPNOTSUPP: .lasting,
    ]
}

/// An error of the operating system at a source.
func sourceFailure(errno: Int32, _ path: String) -> ReelFailure {
    switch SystemFault(errno: errno, writing: false) {
    case .memory: ReelFailure(.outOfMemory(step: .readFile, subject: path))
    case .passing: ReelFailure(.sourceUnreadable(path: path, errno: errno, passes: true))
    case .full, .lasting: ReelFailure(.sourceUnreadable(path: path, errno: errno, passes: false))
    }
}

/// An error of the operating system at a file of reel's own.
func fileFailure(errno: Int32, _ step: FileStep, _ path: String) -> ReelFailure {
    switch SystemFault(errno: errno, writing: step.writes) {
    case .full: ReelFailure(.diskFull(path: path))
    case .memory: ReelFailure(.outOfMemory(step: step.writes ? .writePackets : .readFile, subject: path))
    case .passing: ReelFailure(.fileFailed(path: path, step: step, errno: errno, passes: true))
    case .lasting: ReelFailure(.fileFailed(path: path, step: step, errno: errno, passes: false))
    }
}

/// The operating system's number in an error code of libav*; nil where the code is one of libav*'s own.
func systemError(in code: Int32) -> Int32? { (-4095 ... -1).contains(code) ? -code : nil }

/// How files are read at an offset: as pread(2) is called and answers. A seam for tests, in which reads fail in the midst
/// of a file as they do on disks and mounts.
package struct FileReading: Sendable {
    package typealias Read =
        @Sendable (
            _ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int, _ offset: Int64
        ) -> Int

    let read: Read

    package init(_ read: @escaping Read) { self.read = read }

    @TaskLocal package static var current = FileReading { pread($0, $1, $2, off_t($3)) }
}
