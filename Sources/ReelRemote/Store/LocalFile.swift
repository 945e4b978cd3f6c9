internal import Glibc
internal import ReelCore

/// A file of this machine while it is being written. It need not survive a crash of the machine.
struct LocalFile: ~Copyable {
    private let path: String
    private let descriptor: CInt

    private init(_ path: String) throws(ReelFailure) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw LocalFile.failure(path, .make) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Makes a file that is whole or not there, in the place of an earlier one. Throws `.diskFull` and `.fileFailed`.
    static func write(_ path: String, _ body: (borrowing LocalFile) async throws(ReelFailure) -> Void)
        async throws(ReelFailure)
    {
        // Two tasks may bring the same object at once.
        let temporary = "\(path).\(UInt64.random(in: .min ... .max))"
        do throws(ReelFailure) {
            let file = try LocalFile(temporary)
            try await body(file)
            guard rename(temporary, path) == 0 else { throw failure(path, .rename) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// The same, of bytes that are there.
    static func write(_ bytes: [UInt8], to path: String) async throws(ReelFailure) {
        try await write(path) { file throws(ReelFailure) in
            try bytes.withUnsafeBufferPointer { part throws(ReelFailure) in
                try file.append(UnsafeRawBufferPointer(part))
            }
        }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(ReelFailure) {
        var done = 0
        while let start = bytes.baseAddress, done < bytes.count {
            let count = Glibc.write(descriptor, start + done, bytes.count - done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw LocalFile.failure(path, .write) }
            done += count
        }
    }

    private static func failure(_ path: String, _ step: FileStep) -> ReelFailure {
        ReelFailure(
            [ENOSPC, EDQUOT].contains(errno)
                ? .diskFull(path: path) : .fileFailed(path: path, step: step, errno: errno, passes: true))
    }
}
