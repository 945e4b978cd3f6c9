internal import Crypto
internal import Foundation
internal import Glibc
internal import ReelCore

/// Files that must be whole or not there.
enum Files {
    static func failure(_ doing: String) -> ReelFailure {
        let code = errno
        let text = String(cString: strerror(code))
        return ReelFailure(.output, "\(doing): \(text)", cause: code == ENOSPC ? .noSpace : .transient)
    }

    /// Brings a file's bytes to the disk.
    static func sync(_ path: String) throws(ReelFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("opening \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("syncing \(path)") }
    }

    static func rename(_ path: String, to final: String) throws(ReelFailure) {
        guard Glibc.rename(path, final) == 0 else { throw failure("renaming \(path)") }
    }

    /// Writes a value as JSON under a temporary name, syncs and renames it.
    static func writeJSON(_ value: some Encodable, to path: String) throws(ReelFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        do {
            try encoder.encode(value).write(to: URL(fileURLWithPath: path + ".part"))
        } catch {
            throw ReelFailure(.output, "writing \(path): \(error.localizedDescription)", cause: .transient)
        }
        try sync(path + ".part")
        try rename(path + ".part", to: path)
    }

    static func readJSON<T: Decodable>(_ type: T.Type, from path: String) throws(ReelFailure) -> T {
        do {
            return try JSONDecoder().decode(type, from: Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw ReelFailure(.unreachable, "reading \(path): \(error.localizedDescription)", cause: .incompatible)
        }
    }

    static func read(_ path: String) throws(ReelFailure) -> [UInt8] {
        do {
            return try [UInt8](Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped))
        } catch {
            throw ReelFailure(.unreachable, "reading \(path): \(error.localizedDescription)", cause: .incompatible)
        }
    }

    static func write(_ bytes: [UInt8], to path: String) throws(ReelFailure) {
        do {
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        } catch {
            throw ReelFailure(.output, "writing \(path): \(error.localizedDescription)", cause: .transient)
        }
    }

    /// SHA-256 of a file, in hexadecimal.
    static func checksum(of path: String) throws(ReelFailure) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("opening \(path)") }
        defer { close(descriptor) }
        var hash = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { throw failure("reading \(path)") }
            guard count > 0 else { return hexadecimal(hash.finalize()) }
            buffer.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
