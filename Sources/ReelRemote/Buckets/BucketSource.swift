internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import ReelCore

/// An object of a bucket that is read by ranges.
struct BucketSource: RangedBytes {
    private let store: ObjectStore
    private let address: ObjectAddress
    private let role: ByteRole

    init(_ address: ObjectAddress, in store: ObjectStore, for role: ByteRole = .source) {
        (self.address, self.store, self.role) = (address, store, role)
    }

    var shown: String { address.text }

    func unanswered(_ said: String) -> ReelFailure {
        ReelFailure(.bucketUnanswered(role: role, address: shown, said: said))
    }

    func ask(for range: Range<Int64>, of version: WebVersion?) async throws -> RangeAnswer {
        let fields = HTTPClientRequest.fields(for: range, of: version)
        let request = ObjectStore.Request(address: address, headers: fields)
        let answer = try await store.ask(request, for: role, expected: [412, 416])
        guard let taken = try taken(answer, of: version) else {
            throw ReelFailure(.bucketMisanswered(role: role, address: shown, said: "\(answer.status)"))
        }
        return taken
    }

    func turn() {}
}
