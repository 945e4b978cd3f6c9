internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import ReelCore
internal import XMLCoder

extension ObjectStore {
    /// Bytes from which on an object is written in parts.
    static let leastPart: Int64 = 16 << 20
    /// Source: "Amazon S3 multipart upload limits" in the user guide of Amazon S3.
    private static let mostParts: Int64 = 10_000

    /// The parts in which a number of bytes is written: one, or equal ones and a rest.
    static func parts(of bytes: Int64) -> [Range<Int64>] {
        guard bytes > leastPart else { return [0..<bytes] }
        let mebibyte: Int64 = 1 << 20
        let least = (bytes + mostParts - 1) / mostParts
        let size = max(leastPart, (least + mebibyte - 1) / mebibyte * mebibyte)
        return stride(from: 0, to: bytes, by: Int(size)).map { $0..<min($0 + size, bytes) }
    }

    /// Writes an object. Readers see all of it or nothing.
    ///
    /// Throws the failures of buckets, and what the closures throw. Nothing is left of it then.
    ///
    /// - Parameters:
    ///   - bytes: its size.
    ///   - read: gives each part, once and in order.
    ///   - approve: is called when all parts have been read, before the object becomes visible.
    func write(
        _ bytes: Int64, to address: ObjectAddress, for role: ByteRole,
        read: (Range<Int64>) throws(ReelFailure) -> ByteBuffer, approve: () throws(ReelFailure) -> Void
    ) async throws(ReelFailure) {
        let parts = ObjectStore.parts(of: bytes)
        guard parts.count > 1 else {
            let body = try read(0..<bytes)
            try approve()
            _ = try await self.body(of: Request(method: .PUT, address: address, body: body), for: role)
            return
        }
        let upload = try await begin(address, role)
        do throws(ReelFailure) {
            var tags: [String] = []
            for (place, part) in parts.enumerated() {
                tags.append(try await write(try read(part), as: place + 1, of: upload, to: address, role))
            }
            try approve()
            try await complete(upload, tags, bytes, address, role)
        } catch {
            await abort(upload, address, role)
            throw error
        }
    }

    /// The object's size in bytes; nil if it does not exist. Throws the failures of buckets.
    func size(
        of address: ObjectAddress, for role: ByteRole, within patience: Duration = .seconds(60)
    ) async throws(ReelFailure) -> Int64? {
        try await persisting(address, role, for: patience) {
            // The answer to HEAD would not tell a missing object from a missing bucket.
            let request = Request(address: address, headers: HTTPClientRequest.fields(for: 0..<1))
            do {
                let answer = try await self.ask(request, for: role, expected: [416])
                _ = try await answer.body.collect(upTo: 1 << 20)
                if answer.status == .rangeNotSatisfiable { return 0 }
                let total = answer.headers.first(name: "Content-Range")?.split(separator: "/").last
                guard let size = total.flatMap({ Int64($0) }) else {
                    throw ReelFailure(
                        .bucketMisanswered(role: role, address: address.text, said: "no Content-Range"))
                }
                return size
            } catch let failure as ReelFailure {
                if case .objectMissing = failure.reason { return nil }
                throw failure
            }
        }
    }

    // MARK: Parts

    private struct Begun: Decodable { var UploadId: String }

    private struct Completion: Encodable {
        var Part: [Written]

        struct Written: Encodable {
            var PartNumber: Int
            var ETag: String
        }
    }

    private func begin(_ address: ObjectAddress, _ role: ByteRole) async throws(ReelFailure) -> String {
        let request = Request(method: .POST, address: address, query: [("uploads", "")])
        let body = try await body(of: request, for: role)
        guard let begun = try? XMLDecoder().decode(Begun.self, from: body) else {
            throw ReelFailure(
                .bucketMisanswered(role: role, address: address.text, said: "no id of an upload in parts"))
        }
        return begun.UploadId
    }

    /// Writes a part, and returns its tag.
    private func write(
        _ bytes: ByteBuffer, as number: Int, of upload: String, to address: ObjectAddress, _ role: ByteRole
    ) async throws(ReelFailure) -> String {
        let query = [(name: "partNumber", value: "\(number)"), (name: "uploadId", value: upload)]
        let request = Request(method: .PUT, address: address, query: query, body: bytes)
        return try await persisting(address, role) {
            let answer = try await self.ask(request, for: role)
            _ = try await answer.body.collect(upTo: 1 << 20)
            guard let tag = answer.headers.first(name: "ETag") else {
                throw ReelFailure(.bucketMisanswered(role: role, address: address.text, said: "no ETag of a part"))
            }
            return tag
        }
    }

    private func complete(
        _ upload: String, _ tags: [String], _ bytes: Int64, _ address: ObjectAddress, _ role: ByteRole
    ) async throws(ReelFailure) {
        let parts = tags.enumerated().map { Completion.Written(PartNumber: $0 + 1, ETag: $1) }
        let body: Data
        do { body = try XMLEncoder().encode(Completion(Part: parts), withRootKey: "CompleteMultipartUpload") } catch {
            throw ReelFailure(.notEncodable(said: "\(error)"))
        }
        let request = Request(
            method: .POST, address: address, query: [("uploadId", upload)],
            headers: [("Content-Type", "application/xml")], body: ByteBuffer(bytes: body))
        var attempts = 0
        do throws(ReelFailure) {
            try await persisting(address, role) {
                attempts += 1
                let answer = try await self.ask(request, for: role)
                // The store has begun its answer before it knew how that would end.
                let said = Data(try await answer.body.collect(upTo: 1 << 20).readableBytesView)
                if let refusal = try? XMLDecoder().decode(Refusal.self, from: said) {
                    throw Passing(said: refusal.Code)
                }
            }
        } catch {
            // The store knows the upload no more: an earlier attempt has succeeded, and its answer was lost.
            guard case .objectMissing = error.reason, attempts > 1, try await size(of: address, for: role) == bytes
            else {
                throw error
            }
        }
    }

    /// Removes the parts, also if this task was cancelled. Parts that cannot be removed now are left to the bucket's
    /// lifecycle rule.
    private func abort(_ upload: String, _ address: ObjectAddress, _ role: ByteRole) async {
        let request = Request(method: .DELETE, address: address, query: [("uploadId", upload)])
        await Task.detached { [self] in _ = try? await body(of: request, for: role) }.value
    }
}
