internal import Crypto
internal import Glibc
package import ReelCore

/// The identity of a source: it differs for other sources, and for the same one after a change.
package struct Fingerprint: Hashable, Codable, Sendable {
    /// Bytes.
    package var size: Int64
    /// Last modification, nanoseconds since 1970.
    package var mtimeNanoseconds: Int64
    /// SHA-256 of the first MiB and of the last, one after the other, in hexadecimal; a smaller file is hashed whole,
    /// twice.
    package var edges: String

    /// A fingerprint of known parts.
    package init(size: Int64, mtimeNanoseconds: Int64, edges: String) {
        self.size = size
        self.mtimeNanoseconds = mtimeNanoseconds
        self.edges = edges
    }

    package enum CodingKeys: String, CodingKey {
        case size, mtimeNanoseconds, edges
    }

    /// The fingerprint of a file. Takes milliseconds, whatever the file's size.
    ///
    /// Throws `.input` if there is no file, it is empty or a folder, or it cannot be read.
    package static func of(_ path: String) throws(ReelFailure) -> Fingerprint {
        let file = try SourceFile(path)
        return Fingerprint(size: file.size, mtimeNanoseconds: file.mtimeNanoseconds, edges: try file.edges())
    }

    /// Whether the source is still the one that the fingerprint was taken of, by size and time; its bytes are not read.
    ///
    /// Throws as `of` does.
    package func matches(_ source: Locator) throws(ReelFailure) -> Bool {
        let now = try SourceFile(source.path)
        return now.size == size && now.mtimeNanoseconds == mtimeNanoseconds
    }

    /// SHA-256 of a file's bytes in hexadecimal, read in blocks of 1 MiB.
    ///
    /// Throws `.unreachable` if it cannot be read.
    package static func sha256Hex(of path: String) throws(ReelFailure) -> String {
        do {
            let file = try Descriptor(regular: path)
            return try file.sha256Hex()
        } catch {
            throw SystemError.store(.read, path, error.value)
        }
    }

    /// SHA-256 of bytes in hexadecimal.
    package static func sha256Hex(_ bytes: [UInt8]) -> String { Hexadecimal.text(SHA256.hash(data: bytes)) }
}

/// A source, open.
private final class SourceFile {
    private let path: String
    private let file: Descriptor
    let size: Int64
    let mtimeNanoseconds: Int64

    /// Throws `.input` if there is no file, it is empty or a folder, or it cannot be opened for reading.
    init(_ path: String) throws(ReelFailure) {
        let status: stat
        do {
            // Without O_NONBLOCK, opening a pipe would wait for its writer.
            file = try Descriptor(open: path, O_RDONLY | O_NONBLOCK)
            status = try file.status()
        } catch {
            throw ReelFailure(.sourceInaccessible(path: path, errno: error.value))
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw ReelFailure(.sourceIsFolder(path: path))
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw ReelFailure(.sourceNotAFile(path: path))
        }
        guard status.st_size > 0 else { throw ReelFailure(.sourceEmpty(path: path)) }
        self.path = path
        size = Int64(status.st_size)
        mtimeNanoseconds = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    }

    /// Bytes at each end that are hashed, at most.
    private static let edge: Int64 = 1 << 20

    /// SHA-256 of both ends, in hexadecimal.
    func edges() throws(ReelFailure) -> String {
        let count = Int(min(size, SourceFile.edge))
        var hash = SHA256()
        do {
            for start in [0, size - Int64(count)] {
                hash.update(data: try file.read(count, at: start))
            }
        } catch {
            throw ReelFailure(.sourceInaccessible(path: path, errno: error.value))
        }
        return Hexadecimal.text(hash.finalize())
    }
}

extension Descriptor {
    /// SHA-256 of the bytes that follow the current position.
    ///
    /// - Parameter isUnwanted: is asked before each MiB; ECANCELED is thrown if it says so.
    func sha256Hex(unless isUnwanted: () -> Bool = { false }) throws(SystemCode) -> String {
        var hash = SHA256()
        var block = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            guard !isUnwanted() else { throw SystemCode(ECANCELED) }
            let count = try read(into: &block)
            if count == 0 { return Hexadecimal.text(hash.finalize()) }
            hash.update(data: block[..<count])
        }
    }
}
