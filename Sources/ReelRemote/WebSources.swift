internal import Glibc
package import ReelCore
package import ReelEngine
internal import ReelHost
internal import ReelStore

/// Sources on the web servers that this process may ask.
package struct WebSources: RemoteSources {
    private let hosts: SourceHosts
    private let scratch: String

    /// - Parameter scratch: a folder of this machine for the bytes that engines need.
    package init(_ hosts: SourceHosts, scratch: String) { (self.hosts, self.scratch) = (hosts, scratch) }

    package func open(_ source: Locator) async throws(ReelFailure) -> any FetchedSource {
        guard let version = source.web else { throw ReelFailure(.sourceNotAFile(path: source.name)) }
        let url = try WebSources.url(source.file)
        _ = try await hosts.addresses(of: url, redirectedFrom: nil)
        return try FetchedFile(WebSource(url, hosts), version, scratch: scratch)
    }

    package func look(
        at url: String, _ count: Int64
    ) async throws(ReelFailure) -> (version: WebVersion, first: [UInt8], last: [UInt8]) {
        try await WebSource(WebSources.url(url), hosts).look(count)
    }

    private static func url(_ text: String) throws(ReelFailure) -> WebURL {
        do throws(WebURL.Flaw) { return try WebURL(text) } catch {
            if error == .scheme { throw ReelFailure(.sourceIsURL(url: WebAddress.shown(text))) }
            throw ReelFailure(.urlInvalid(url: WebAddress.shown(text), flaw: String(error.rawValue.dropLast())))
        }
    }
}

/// The bytes of a source that an engine has asked for, in a sparse file.
private final class FetchedFile: FetchedSource {
    let path: String
    let size: Int64
    private let source: WebSource
    private let version: WebVersion
    private let folder: TemporaryFolder
    private let descriptor: CInt

    init(_ source: WebSource, _ version: WebVersion, scratch: String) throws(ReelFailure) {
        folder = try TemporaryFolder(scratchIn: scratch)
        (self.source, self.version, size) = (source, version, version.size)
        path = folder.path + "/source"
        descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, off_t(size)) == 0 else {
            throw ReelFailure(.folderUnwritable(path: folder.path, errno: errno))
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func fetch(_ range: Range<Int64>) async throws(ReelFailure) {
        try await source.read(range, of: version) { (bytes, offset) throws(ReelFailure) in
            var done = 0
            while let start = bytes.baseAddress, done < bytes.count {
                let count = pwrite(descriptor, start + done, bytes.count - done, off_t(offset) + off_t(done))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    let isFull = [ENOSPC, EDQUOT].contains(errno)
                    throw ReelFailure(
                        isFull
                            ? .diskFull(path: path) : .fileFailed(path: path, step: .write, errno: errno, passes: true))
                }
                done += count
            }
        }
    }

    func discard(_ range: Range<Int64>) { SparseFile.discard(range, of: descriptor) }
}
