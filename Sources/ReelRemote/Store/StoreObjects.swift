internal import AsyncHTTPClient
internal import Crypto
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
package import ReelCore
internal import ReelStore

/// The place of a store in a bucket: `s3://bucket/prefix`, or the whole bucket.
package struct StorePlace: Hashable, Sendable {
    let bucket: String
    /// What all its keys begin with: empty, or with a slash at the end.
    let prefix: String

    /// Throws `.storeNameInvalid` for what is no such place.
    package init(_ text: String) throws(ReelFailure) {
        let trimmed = text.hasSuffix("/") ? String(text.dropLast()) : text
        do throws(ObjectAddress.Flaw) {
            // An address names an object, and a place may be a whole bucket.
            let address = try ObjectAddress(trimmed + "/" + StoreMarker.name)
            bucket = address.bucket
            prefix = String(address.key.dropLast(StoreMarker.name.count))
        } catch {
            throw ReelFailure(.storeNameInvalid(name: text, flaw: String(error.rawValue.dropLast())))
        }
    }

    package var text: String { prefix.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(prefix.dropLast())" }

    func address(_ name: String) -> ObjectAddress { ObjectAddress(bucket: bucket, key: prefix + name) }
}

/// The objects of a store in a bucket, by the names that its files would have in a folder.
struct StoreObjects: Sendable {
    let place: StorePlace
    private let objects: ObjectStore

    init(_ place: StorePlace, in objects: ObjectStore) { (self.place, self.objects) = (place, objects) }

    /// The name of an object in messages.
    func shown(_ name: String) -> String { place.address(name).text }

    /// The place as a URL, which no other store has.
    var url: String { objects.url(of: place.address(StoreMarker.name)) }

    /// How long the writing of a record goes on: its lock outlasts that.
    static let patience = Duration.seconds(20)

    /// The bytes of an object; nil if there is none. Throws the failures of buckets, and `.storeFileDamaged` if there are
    /// more than `mostBytes`.
    func read(_ name: String, mostBytes: Int64 = AtomicFile.mostBytes) async throws(ReelFailure) -> [UInt8]? {
        do throws(ReelFailure) {
            let address = place.address(name)
            return try await objects.persisting(address, .store) {
                let answer = try await objects.ask(ObjectStore.Request(address: address), for: .store)
                var bytes: [UInt8] = []
                for try await part in answer.body {
                    bytes += part.readableBytesView
                    guard bytes.count <= mostBytes else {
                        throw ReelFailure(
                            .storeFileDamaged(path: address.text, said: "more than \(mostBytes) bytes, the most it has")
                        )
                    }
                }
                return bytes
            }
        } catch {
            if case .objectMissing = error.reason { return nil }
            throw error
        }
    }

    /// Writes an object: readers see it as a whole, or what was there before.
    func write(
        _ bytes: [UInt8], to name: String, within patience: Duration = .seconds(60)
    ) async throws(ReelFailure) {
        let address = place.address(name)
        let request = ObjectStore.Request(method: .PUT, address: address, body: ByteBuffer(bytes: bytes))
        try await objects.persisting(address, .store, for: patience) {
            _ = try await objects.ask(request, for: .store).body.collect(upTo: 1 << 20)
        }
    }

    /// The size of an object in bytes; nil if there is none.
    func size(_ name: String) async throws(ReelFailure) -> Int64? {
        try await objects.size(of: place.address(name), for: .store)
    }

    func exists(_ name: String) async throws(ReelFailure) -> Bool { try await size(name) != nil }

    /// The objects whose names begin with a text, by their names.
    func list(_ beginning: String) async throws(ReelFailure) -> [ObjectStore.Listed] {
        try await objects.list(place.prefix + beginning, in: place.bucket, for: .store).objects.map { listed in
            var listed = listed
            listed.key = String(listed.key.dropFirst(place.prefix.count))
            return listed
        }
    }

    /// The names of the folders in a folder, whose own name ends with a slash.
    func folders(in folder: String) async throws(ReelFailure) -> [String] {
        let prefix = place.prefix + folder
        return try await objects.list(prefix, in: place.bucket, for: .store, byFolder: true).folders.map {
            String($0.dropFirst(prefix.count).dropLast())
        }
    }

    func remove(_ names: [String]) async throws(ReelFailure) {
        _ = try await concurrently(names) { name async throws(ReelFailure) in
            try await objects.remove(place.address(name), for: .store)
        }
    }

    /// Removes all objects whose names begin with a text.
    func removeAll(_ beginning: String, butNot kept: String? = nil) async throws(ReelFailure) {
        try await remove(list(beginning).map(\.key).filter { $0 != kept })
    }

    /// Ends uploads that their makers have left.
    func abortUploads(before moment: Double) async throws(ReelFailure) {
        try await objects.abortUploads(to: place.prefix, in: place.bucket, before: moment)
    }

    /// Writes a file of this machine to an object.
    ///
    /// - Parameter approve: gets the size and the SHA-256 of what was read, before the object becomes visible.
    func upload(
        _ file: OpenFile, to name: String, approve: (_ bytes: Int64, _ sha256: String) throws(ReelFailure) -> Void
    ) async throws(ReelFailure) {
        var hash = SHA256()
        try await objects.write(file.bytes, to: place.address(name), for: .store) { range throws(ReelFailure) in
            let bytes = try file.bytes(range)
            bytes.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
            return bytes
        } approve: { () throws(ReelFailure) in
            try approve(file.bytes, Hexadecimal.text(hash.finalize()))
        }
    }

    /// Hands out the bytes of an object of a known size, in order.
    ///
    /// Throws the failures of buckets, and `.storeFileDamaged` if it has another size.
    func read(
        _ name: String, bytes: Int64, _ take: (UnsafeRawBufferPointer) throws(ReelFailure) -> Void
    ) async throws(ReelFailure) {
        let object = StoredObject(
            place.address(name), in: objects, version: WebVersion(size: bytes, tag: nil, modified: nil))
        try await object.read(0..<bytes, take)
    }

    /// Opens an object of a known size. Throws as `read` does.
    func open(_ name: String, bytes: Int64) async throws(ReelFailure) -> StoredObject {
        let object = try await StoredObject(place.address(name), in: objects)
        guard object.bytes == bytes else { throw object.damaged(bytes) }
        return object
    }

    /// The SHA-256 of an object of a known size, in hexadecimal. Throws as the other `read` does.
    func sha256(of name: String, bytes: Int64) async throws(ReelFailure) -> String {
        var hash = SHA256()
        try await read(name, bytes: bytes) { hash.update(bufferPointer: $0) }
        return Hexadecimal.text(hash.finalize())
    }

    /// Writes the bytes of an object of a known size to a file of this machine: whole, or not at all. Throws as the other
    /// `read` does, and `.diskFull` and `.fileFailed`.
    func download(_ name: String, bytes: Int64, to path: String) async throws(ReelFailure) {
        try await LocalFile.write(path) { file async throws(ReelFailure) in
            try await read(name, bytes: bytes) { part throws(ReelFailure) in try file.append(part) }
        }
    }
}
