internal import Glibc
package import ReelCore
package import ReelEngine
internal import ReelHost
internal import ReelStore
internal import Synchronization

/// Sources on web servers and in buckets, as far as this process may ask for them.
package final class NetworkSources: RemoteSources {
    private let hosts: SourceHosts
    private let objects: ObjectStore
    private let scratch: String
    private let role: ByteRole
    /// What was looked at last. It is likely to be opened next, and then its connection is used again.
    private let seen = Mutex<(address: String, bytes: any RangedBytes)?>(nil)

    /// - Parameters:
    ///   - hosts: the web servers that may be asked.
    ///   - objects: the store of the buckets.
    ///   - scratch: a folder of this machine for the bytes that engines need.
    package convenience init(_ hosts: SourceHosts, _ objects: ObjectStore, scratch: String) {
        self.init(hosts, objects, scratch: scratch, for: .source)
    }

    /// - Parameter role: whose failures those of buckets are.
    fileprivate init(_ hosts: SourceHosts, _ objects: ObjectStore, scratch: String, for role: ByteRole) {
        (self.hosts, self.objects, self.scratch, self.role) = (hosts, objects, scratch, role)
    }

    package func open(_ source: Locator) async throws(ReelFailure) -> any FetchedSource {
        guard let version = source.web else { throw ReelFailure(.sourceNotAFile(path: source.name)) }
        let known = seen.withLock { seen in
            defer { seen = nil }
            return seen?.address == source.file ? seen?.bytes : nil
        }
        let bytes = if let known { known } else { try await bytes(of: source.file) }
        return try FetchedFile(bytes, version, scratch: scratch)
    }

    package func look(
        at url: String, _ count: Int64
    ) async throws(ReelFailure) -> (version: WebVersion, first: [UInt8], last: [UInt8]) {
        let bytes = try await bytes(of: url)
        let found = try await bytes.look(count)
        seen.withLock { $0 = (url, bytes) }
        return found
    }

    /// Throws `.urlInvalid` and `.sourceIsURL`, and `.urlHostForbidden` for a server or bucket that may not be asked.
    private func bytes(of text: String) async throws(ReelFailure) -> any RangedBytes {
        if WebAddress.isObject(text) {
            let address: ObjectAddress
            do throws(ObjectAddress.Flaw) { address = try ObjectAddress(text) } catch {
                throw ReelFailure(.urlInvalid(url: text, flaw: String(error.rawValue.dropLast())))
            }
            try hosts.check(address)
            return BucketSource(address, in: objects, for: role)
        }
        let url: WebURL
        do throws(WebURL.Flaw) { url = try WebURL(text) } catch {
            if error == .scheme { throw ReelFailure(.sourceIsURL(url: WebAddress.shown(text))) }
            throw ReelFailure(.urlInvalid(url: WebAddress.shown(text), flaw: String(error.rawValue.dropLast())))
        }
        _ = try await hosts.addresses(of: url, redirectedFrom: nil)
        return WebSource(url, hosts)
    }
}

/// The copies of sources in a store's bucket, and what others read.
package struct StoreSources: RemoteSources {
    private let beginning: String
    private let copies: NetworkSources
    private let others: (any RemoteSources)?

    /// - Parameter scratch: a folder of this machine for the bytes that engines need.
    package init(_ store: BucketStore, _ objects: ObjectStore, or others: (any RemoteSources)?, scratch: String) {
        beginning = store.name + "/jobs/"
        copies = NetworkSources(SourceHosts([], buckets: nil), objects, scratch: scratch, for: .store)
        self.others = others
    }

    package func open(_ source: Locator) async throws(ReelFailure) -> any FetchedSource {
        if source.file.hasPrefix(beginning) { return try await copies.open(source) }
        guard let others else { throw ReelFailure(.sourceIsURL(url: source.name)) }
        return try await others.open(source)
    }

    package func look(
        at url: String, _ count: Int64
    ) async throws(ReelFailure) -> (version: WebVersion, first: [UInt8], last: [UInt8]) {
        guard let others else { throw ReelFailure(.sourceIsURL(url: WebAddress.shown(url))) }
        return try await others.look(at: url, count)
    }
}

/// The bytes of a source that an engine has asked for, in a sparse file.
private final class FetchedFile: FetchedSource {
    let path: String
    let size: Int64
    private let source: any RangedBytes
    private let version: WebVersion
    private let folder: TemporaryFolder
    private let descriptor: CInt

    init(_ source: any RangedBytes, _ version: WebVersion, scratch: String) throws(ReelFailure) {
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
