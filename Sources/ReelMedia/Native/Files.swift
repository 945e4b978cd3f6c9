internal import Crypto
internal import Foundation
internal import Glibc
internal import ReelCore

/// Files that must be whole or not there.
enum Files {
    /// What the system says of a step that failed just now.
    static func failure(_ step: FileStep, _ path: String) -> ReelFailure {
        let code = errno
        if code == ENOSPC { return ReelFailure(.diskFull(path: path)) }
        return ReelFailure(.fileFailed(path: path, step: step, said: String(cString: strerror(code))))
    }

    /// Brings a file's bytes to the disk.
    static func sync(_ path: String) throws(ReelFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(.open, path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(.sync, path) }
    }

    static func rename(_ path: String, to final: String) throws(ReelFailure) {
        guard Glibc.rename(path, final) == 0 else { throw failure(.rename, path) }
    }

    /// Writes a value as JSON under a temporary name, syncs and renames it.
    static func writeJSON(_ value: some Encodable, to path: String) throws(ReelFailure) {
        do {
            try Data(CanonicalJSON.bytes(of: value)).write(to: URL(fileURLWithPath: path + ".part"))
        } catch {
            throw ReelFailure(.fileFailed(path: path, step: .write, said: error.localizedDescription))
        }
        try sync(path + ".part")
        try rename(path + ".part", to: path)
    }

    static func read(_ path: String) throws(ReelFailure) -> [UInt8] {
        do {
            return try [UInt8](Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped))
        } catch {
            throw ReelFailure(.jobFileUnreadable(path: path, said: error.localizedDescription))
        }
    }

    static func write(_ bytes: [UInt8], to path: String) throws(ReelFailure) {
        do {
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        } catch {
            throw ReelFailure(.fileFailed(path: path, step: .write, said: error.localizedDescription))
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
            guard count >= 0 else { throw failure(.read, path) }
            guard count > 0 else { return hexadecimal(hash.finalize()) }
            buffer.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
