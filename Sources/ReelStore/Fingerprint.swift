internal import Crypto
internal import Glibc
public import ReelCore

/// What tells a source from another, and from itself after a change.
public struct Fingerprint: Hashable, Codable, Sendable {
    /// Bytes.
    public var size: Int64
    /// Last modification, nanoseconds since 1970.
    public var mtimeNanoseconds: Int64
    /// SHA-256 of the source index, in hexadecimal; nil before recon.
    public var indexHash: String?

    /// A fingerprint of known parts.
    public init(size: Int64, mtimeNanoseconds: Int64, indexHash: String?) {
        self.size = size
        self.mtimeNanoseconds = mtimeNanoseconds
        self.indexHash = indexHash
    }

    /// Size and time of a file, without an index hash.
    ///
    /// Throws `.input` where there is no file, it is a folder, or it cannot be opened for reading.
    public static func of(_ path: String) throws(ReelFailure) -> Fingerprint {
        let status: stat
        do {
            // Without O_NONBLOCK, opening a pipe would wait for its writer.
            status = try Descriptor(open: path, O_RDONLY | O_NONBLOCK).status()
        } catch {
            throw ReelFailure(.input, "cannot read \(path): \(SystemError.text(error.value))")
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw ReelFailure(.input, "\(path) is a folder; name a video file in it")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw ReelFailure(.input, "\(path) is not a regular file, and reel reads its source more than once")
        }
        let modified = status.st_mtim
        return Fingerprint(
            size: Int64(status.st_size),
            mtimeNanoseconds: Int64(modified.tv_sec) * 1_000_000_000 + Int64(modified.tv_nsec), indexHash: nil)
    }

    /// Whether the file is still the one that the fingerprint was taken of, by size and time.
    ///
    /// Throws as `of` does.
    public func matches(_ path: String) throws(ReelFailure) -> Bool {
        let now = try Fingerprint.of(path)
        return now.size == size && now.mtimeNanoseconds == mtimeNanoseconds
    }

    /// SHA-256 of a file's bytes in hexadecimal, read in blocks of 1 MiB.
    ///
    /// Throws `.unreachable` where it cannot be read.
    public static func sha256Hex(of path: String) throws(ReelFailure) -> String {
        do {
            let file = try Descriptor(open: path, O_RDONLY)
            return try file.sha256Hex()
        } catch {
            throw SystemError.store("read", path, error.value)
        }
    }

    /// SHA-256 of bytes in hexadecimal.
    public static func sha256Hex(_ bytes: [UInt8]) -> String { hex(SHA256.hash(data: bytes)) }

    static func hex(_ digest: SHA256.Digest) -> String {
        digest.map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }.joined()
    }
}

extension Descriptor {
    /// SHA-256 of what is still to be read.
    func sha256Hex() throws(SystemCode) -> String {
        var hash = SHA256()
        var block = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = try read(into: &block)
            if count == 0 { return Fingerprint.hex(hash.finalize()) }
            hash.update(data: block[..<count])
        }
    }
}
