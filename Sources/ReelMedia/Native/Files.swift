internal import Crypto
internal import Glibc
internal import ReelCore

/// Files that must be whole or not there.
enum Files {
    /// What the system says of a step that failed just now.
    static func failure(_ step: FileStep, _ path: String) -> ReelFailure {
        fileFailure(errno: errno, step, path)
    }

    /// Brings a file's bytes to the disk.
    static func sync(_ path: String) throws(ReelFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(.open, path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(.sync, path) }
    }

    /// Brings a folder's names to the disk: a file that was made or renamed there is found after a loss of power.
    static func syncFolder(_ path: String) throws(ReelFailure) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(.open, path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(.sync, path) }
    }

    static func rename(_ path: String, to final: String) throws(ReelFailure) {
        guard Glibc.rename(path, final) == 0 else { throw failure(.rename, path) }
    }

    /// Writes a value as JSON under a temporary name, syncs and renames it.
    static func writeJSON(_ value: some Encodable, to path: String) throws(ReelFailure) {
        let bytes: [UInt8]
        do {
            bytes = try CanonicalJSON.bytes(of: value)
        } catch {
            throw ReelFailure(.notEncodable(said: "\(error)"))
        }
        try write(bytes, to: path + ".part")
        try sync(path + ".part")
        try rename(path + ".part", to: path)
    }

    static func read(_ path: String) throws(ReelFailure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(.open, path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(.read, path) }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes { room in
                Glibc.read(descriptor, room.baseAddress.map { $0 + done }, room.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(.read, path) }
            guard count > 0 else { break }
            done += count
        }
        return Array(bytes.prefix(done))
    }

    static func write(_ bytes: [UInt8], to path: String) throws(ReelFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(.write, path) }
        defer { close(descriptor) }
        try write(bytes, to: descriptor, path)
    }

    /// Writes bytes where an open file stands; `path` is what failures name.
    static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(ReelFailure) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { left in
                Glibc.write(descriptor, left.baseAddress.map { $0 + done }, left.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(.write, path) }
            done += count
        }
    }

    /// SHA-256 of a file, in hexadecimal.
    static func checksum(of path: String) throws(ReelFailure) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(.open, path) }
        defer { close(descriptor) }
        var hash = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(.read, path) }
            guard count > 0 else { return hexadecimal(hash.finalize()) }
            buffer.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
