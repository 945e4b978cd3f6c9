internal import NIOCore
internal import ReelCore
internal import ReelStore

/// An object of a store, in the version that it had when it was opened.
struct StoredObject: StoredBytes {
    private let source: BucketSource
    private let version: WebVersion

    /// - Parameter version: as far as it is known.
    init(_ address: ObjectAddress, in objects: ObjectStore, version: WebVersion) {
        source = BucketSource(address, in: objects, for: .store)
        self.version = version
    }

    /// Throws the failures of buckets.
    init(_ address: ObjectAddress, in objects: ObjectStore) async throws(ReelFailure) {
        let source = BucketSource(address, in: objects, for: .store)
        self.source = source
        version = try await StoredObject.naming(source) { () async throws(ReelFailure) in
            try await source.begin(1).version
        }
    }

    var name: String { source.shown }

    var bytes: Int64 { version.size }

    var mark: String {
        let version = "\(bytes) \(version.tag ?? "") \(version.modified ?? 0)"
        return Fingerprint.sha256Hex(Array("\(name) \(version)".utf8))
    }

    /// Each read is a request, which the store's owner pays for.
    var piece: Int { 4 << 20 }

    func read(_ range: Range<Int64>) async throws(ReelFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        try await read(range) { bytes += $0 }
        return bytes
    }

    /// Hands out a range of the bytes, in order.
    ///
    /// Throws the failures of buckets, and `.storeFileDamaged` if there is another version now.
    func read(
        _ range: Range<Int64>, _ take: (UnsafeRawBufferPointer) throws(ReelFailure) -> Void
    ) async throws(ReelFailure) {
        do throws(ReelFailure) {
            try await StoredObject.naming(source) { () async throws(ReelFailure) in
                try await source.read(range, of: version) { part, _ throws(ReelFailure) in try take(part) }
            }
        } catch {
            if case .sourceReplaced = error.reason { throw damaged(bytes) }
            throw error
        }
    }

    func damaged(_ recorded: Int64) -> ReelFailure {
        ReelFailure(.storeFileDamaged(path: name, said: "it has not the recorded \(recorded) bytes"))
    }

    /// Names a store that does not speak as it should, where the failure would speak of a source.
    private static func naming<Answer>(
        _ source: BucketSource, _ body: () async throws(ReelFailure) -> Answer
    ) async throws(ReelFailure) -> Answer {
        do throws(ReelFailure) { return try await body() } catch {
            switch error.reason {
            case .urlWithoutRanges:
                let said = "all bytes instead of a range"
                throw ReelFailure(.bucketMisanswered(role: .store, address: source.shown, said: said))
            case .urlMisanswered(_, let said):
                throw ReelFailure(.bucketMisanswered(role: .store, address: source.shown, said: said))
            default: throw error
            }
        }
    }
}
