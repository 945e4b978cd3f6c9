internal import Glibc
internal import ReelCore

/// The consequence of an error that the operating system reports for a file. Such an error concerns the host: another
/// host may be able to do what this one cannot.
package enum SystemFault: CaseIterable, Sendable {
    /// The disk, or a quota on it, is full.
    case full
    /// The system has not enough memory.
    case memory
    /// Another attempt may succeed, on this host or another.
    case passing
    /// No attempt will succeed on this host, because of its mounts, permissions, limits or disks.
    case lasting

    /// Classifies an error number of a file that is read or written. An unknown number counts as passing.
    package init(errno: Int32, writing: Bool) {
        // A block of a disk that cannot be read is lost, but a write that failed is put elsewhere the next time.
        self = errno == EIO ? (writing ? .passing : .lasting) : SystemFault.rows[errno] ?? .passing
    }

    /// The consequences by error number, without EIO.
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

/// The failure for an error of the operating system at a source.
func sourceFailure(errno: Int32, _ path: String) -> ReelFailure {
    switch SystemFault(errno: errno, writing: false) {
    case .memory: ReelFailure(.outOfMemory(step: .readFile, subject: path))
    case .passing: ReelFailure(.sourceUnreadable(path: path, errno: errno, passes: true))
    case .full, .lasting: ReelFailure(.sourceUnreadable(path: path, errno: errno, passes: false))
    }
}

/// The failure for an error of the operating system at a file of reel's own.
func fileFailure(errno: Int32, _ step: FileStep, _ path: String) -> ReelFailure {
    switch SystemFault(errno: errno, writing: step.writes) {
    case .full: ReelFailure(.diskFull(path: path))
    case .memory: ReelFailure(.outOfMemory(step: step.writes ? .writePackets : .readFile, subject: path))
    case .passing: ReelFailure(.fileFailed(path: path, step: step, errno: errno, passes: true))
    case .lasting: ReelFailure(.fileFailed(path: path, step: step, errno: errno, passes: false))
    }
}

/// The operating system's error number in an error code of libav*; nil if the code is one of libav*'s own.
func systemError(in code: Int32) -> Int32? { (-4095 ... -1).contains(code) ? -code : nil }

/// The function that reads files at an offset, with the arguments and results of pread(2). Tests replace it to make
/// reads fail in the middle of a file, as they do on disks and mounts.
package struct FileReading: Sendable {
    package typealias Read =
        @Sendable (
            _ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int, _ offset: Int64
        ) -> Int

    let read: Read

    package init(_ read: @escaping Read) { self.read = read }

    @TaskLocal package static var current = FileReading { pread($0, $1, $2, off_t($3)) }
}
