internal import Crypto
internal import Glibc
package import ReelCore

/// The identity of a source: another source has another one, and so does the same source after a change.
package struct Fingerprint: Hashable, Codable, Sendable {
    /// Bytes.
    package var size: Int64
    /// Last modification, nanoseconds since 1970; 0 if a web server does not say.
    package var mtimeNanoseconds: Int64
    /// SHA-256 of the first MiB and of the last, one after the other, in hexadecimal; a smaller file is hashed whole,
    /// twice.
    package var edges: String
    /// The strong `ETag` of a source on a web server.
    package var tag: String?

    package init(size: Int64, mtimeNanoseconds: Int64, edges: String, tag: String? = nil) {
        self.size = size
        self.mtimeNanoseconds = mtimeNanoseconds
        self.edges = edges
        self.tag = tag
    }

    /// The fingerprint of a source on a web server.
    ///
    /// - Parameters:
    ///   - first: the first MiB, or all bytes if there are fewer.
    ///   - last: as many bytes up to the end.
    package static func of(_ web: WebVersion, first: [UInt8], last: [UInt8]) -> Fingerprint {
        var hash = SHA256()
        for bytes in [first, last] { hash.update(data: bytes) }
        return Fingerprint(
            size: web.size, mtimeNanoseconds: (web.modified ?? 0) * 1_000_000_000,
            edges: Hexadecimal.text(hash.finalize()), tag: web.tag)
    }

    /// The version of a source on a web server that has this fingerprint.
    package var web: WebVersion {
        WebVersion(
            size: size, tag: tag, modified: mtimeNanoseconds == 0 ? nil : mtimeNanoseconds / 1_000_000_000)
    }

    /// Bytes at each end of a source that are hashed, at most.
    package static let edge: Int64 = 1 << 20

    /// The fingerprint of a file. Takes milliseconds, whatever the file's size.
    ///
    /// Throws `.sourceInaccessible` if it cannot be read, and `.sourceIsFolder`, `.sourceNotAFile` or `.sourceEmpty`.
    package static func of(_ path: String) throws(ReelFailure) -> Fingerprint {
        let file = try SourceFile(path)
        return Fingerprint(size: file.size, mtimeNanoseconds: file.mtimeNanoseconds, edges: try file.edges())
    }

    /// Whether the source is still the one that the fingerprint was taken of, by size and time; its bytes are not read.
    /// A source on a web server is compared whenever its bytes are fetched, and counts as the same here.
    ///
    /// Throws as `of` does.
    package func matches(_ source: Locator) throws(ReelFailure) -> Bool {
        guard source.web == nil else { return true }
        let now = try SourceFile(source.path)
        return now.size == size && now.mtimeNanoseconds == mtimeNanoseconds
    }

    /// SHA-256 of a file's bytes in hexadecimal, read in blocks of 1 MiB.
    ///
    /// Throws `.storeUnusable` if it cannot be read.
    package static func sha256Hex(of path: String) throws(ReelFailure) -> String {
        try SystemError.inStore(.read, path) { () throws(SystemCode) in try Descriptor(regular: path).sha256Hex() }
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

    /// Throws as `Fingerprint.of` does.
    init(_ path: String) throws(ReelFailure) {
        let status: stat
        do {
            // Without O_NONBLOCK, opening a pipe would wait for its writer.
            file = try Descriptor(open: path, O_RDONLY | O_NONBLOCK)
            status = try file.status()
        } catch {
            throw ReelFailure(.sourceInaccessible(path: path, errno: error.value))
        }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw ReelFailure(.sourceIsFolder(path: path)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw ReelFailure(.sourceNotAFile(path: path)) }
        guard status.st_size > 0 else { throw ReelFailure(.sourceEmpty(path: path)) }
        self.path = path
        size = Int64(status.st_size)
        mtimeNanoseconds = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    }

    /// SHA-256 of both ends, in hexadecimal.
    func edges() throws(ReelFailure) -> String {
        let count = Int(min(size, Fingerprint.edge))
        var hash = SHA256()
        do {
            for start in [0, size - Int64(count)] { hash.update(data: try file.read(count, at: start)) }
        } catch {
            throw ReelFailure(.sourceInaccessible(path: path, errno: error.value))
        }
        return Hexadecimal.text(hash.finalize())
    }
}

extension JobID {
    /// The version of the rule by which ids are made. Grows when the same request makes another id.
    package static let ruleVersion = 2

    /// The identity of a job: 16 hexadecimal digits of a hash over the facts that make its output. The findings of
    /// recon and the decisions of planning are not part of it.
    ///
    /// - Parameters:
    ///   - sources: fingerprints of its files.
    ///   - spec: only `spec.identity` counts, so memory and verification make no other job.
    package static func make(sources: [Fingerprint], spec: JobSpec) throws(ReelFailure) -> JobID {
        let content = IdentityContent(rule: ruleVersion, sources: sources, spec: spec.identity)
        return JobID(String(Fingerprint.sha256Hex(try AtomicFile.json(of: content)).prefix(16)))
    }
}

private struct IdentityContent: Encodable {
    let rule: Int
    let sources: [Fingerprint]
    let spec: JobSpec
}
