internal import Crypto
internal import NIOCore
package import ReelCore
package import ReelStore

/// Delivers results to buckets.
package struct BucketOutputs: RemoteOutputs {
    private let store: ObjectStore

    package init(_ store: ObjectStore) { self.store = store }

    package func check(_ output: String, overwrite: Bool) async throws(ReelFailure) {
        // A store that is not there is named soon.
        let size = try await size(of: BucketOutputs.address(output), within: .seconds(5))
        guard size == nil || overwrite else { throw ReelFailure(.outputExists(path: output)) }
    }

    package func deliver(_ result: StoredResult, to output: String, overwrite: Bool) async throws(ReelFailure) {
        let address = try BucketOutputs.address(output)
        if !overwrite, try await size(of: address) != nil { throw ReelFailure(.outputExists(path: output)) }
        let file = try OpenFile(inStore: result.locator)
        var hash = SHA256()
        try await store.write(file.bytes, to: address, for: .output) { range throws(ReelFailure) in
            let bytes = try file.bytes(range)
            bytes.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
            return bytes
        } approve: { () throws(ReelFailure) in
            try result.compare(bytes: file.bytes, sha256: Hexadecimal.text(hash.finalize()), at: file.name)
        }
        if let size = try await size(of: address), size != file.bytes {
            throw ReelFailure(
                .bucketMisanswered(role: .output, address: output, said: "another size than it was given"))
        }
    }

    /// The object's size in bytes; nil if it does not exist, or may not be read: a program that may write an object need
    /// not be allowed to read it.
    private func size(
        of address: ObjectAddress, within patience: Duration = .seconds(60)
    ) async throws(ReelFailure) -> Int64? {
        do throws(ReelFailure) { return try await store.size(of: address, for: .output, within: patience) } catch {
            if case .bucketDenied = error.reason { return nil }
            throw error
        }
    }

    package func verify(_ result: StoredResult, copy: String) async throws(ReelFailure) {
        let object = BucketSource(try BucketOutputs.address(copy), in: store)
        let version = try await object.begin(1).version
        var hash = SHA256()
        try await object.read(0..<version.size, of: version) { bytes, _ in hash.update(bufferPointer: bytes) }
        try result.compare(bytes: version.size, sha256: Hexadecimal.text(hash.finalize()), at: copy)
    }

    private static func address(_ text: String) throws(ReelFailure) -> ObjectAddress {
        do throws(ObjectAddress.Flaw) { return try ObjectAddress(text) } catch {
            throw ReelFailure(.outputNotTaken(address: WebAddress.shown(text), flaw: String(error.rawValue.dropLast())))
        }
    }
}

extension OpenFile {
    /// A range of its bytes; fewer if the file has become shorter. Throws `.storeUnusable`.
    func bytes(_ range: Range<Int64>) throws(ReelFailure) -> ByteBuffer {
        var bytes = ByteBuffer()
        var next = range.lowerBound
        var failure: ReelFailure?
        while next < range.upperBound, failure == nil {
            let count = bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: Int(range.upperBound - next)) { room in
                do throws(ReelFailure) {
                    return try read(into: .init(rebasing: room.prefix(Int(range.upperBound - next))), at: next)
                } catch {
                    failure = error
                    return 0
                }
            }
            if count == 0 { break }
            next += Int64(count)
        }
        if let failure { throw failure }
        return bytes
    }
}
