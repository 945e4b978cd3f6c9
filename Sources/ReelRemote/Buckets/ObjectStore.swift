internal import AsyncHTTPClient
internal import Crypto
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import ReelCore
internal import XMLCoder

/// An object store that speaks the protocol of Amazon S3.
///
/// Source: the API reference of Amazon S3.
package final class ObjectStore: Sendable {
    private let settings: AWSSettings
    private let http: OwnedClient
    private let chain: CredentialChain

    /// The store that this process's environment names.
    package convenience init() { self.init(AWSSettings()) }

    package init(_ settings: AWSSettings) {
        self.settings = settings
        // All slots of a worker share it. There are about as many as processors, and each may have two requests at once.
        let connections = max(8, 2 * ProcessInfo.processInfo.activeProcessorCount)
        http = OwnedClient(authorities: settings.authorities, connections: connections)
        chain = CredentialChain(settings, OwnedClient())
    }

    /// A request for an object.
    struct Request {
        var method = HTTPMethod.GET
        var address: ObjectAddress
        var query: [RequestSignature.Field] = []
        var headers: [RequestSignature.Field] = []
        var body: ByteBuffer?
    }

    /// Asks once. Throws a `ReelFailure` for what cannot succeed, and anything else for what may pass. The answer's status
    /// is 2xx, or one of `expected`.
    func ask(_ request: Request, for role: ByteRole, expected: Set<UInt> = []) async throws -> HTTPClientResponse {
        if let endpoint = settings.endpoint, !ObjectStore.isAddress(endpoint) {
            let said = "\(endpoint), which AWS_ENDPOINT_URL_S3 or the profile names, is no URL of a server"
            throw ReelFailure(.bucketUnanswered(role: role, address: request.address.text, said: said))
        }
        let keys: Credentials
        do { keys = try await chain.current() } catch let fault as CredentialFault where !fault.passes {
            throw ReelFailure(.bucketKeysAbsent(role: role, address: request.address.text, said: fault.said))
        } catch {
            throw Passing(
                said: (error as? CredentialFault)?.said ?? "the service of its keys does not answer: \(error)")
        }
        let (host, base, path) = place(of: request.address)
        let query = RequestSignature.query(request.query)
        var sent = HTTPClientRequest.of(request.method, base + path + (query.isEmpty ? "" : "?" + query))
        let signed = RequestSignature.Signed(
            request.method.rawValue, path: path, query: request.query, headers: request.headers + [("Host", host)],
            bodyHash: request.body?.sha256 ?? RequestSignature.hashOfNothing)
        for (name, value) in request.headers { sent.headers.add(name: name, value: value) }
        let signature = RequestSignature(keys, region: settings.region)
        for (name, value) in signature.headers(of: signed, at: Date()) { sent.headers.add(name: name, value: value) }
        if let body = request.body { sent.body = .bytes(body) }
        let answer = try await http.client.execute(sent, deadline: .distantFuture)
        if (200..<300).contains(answer.status.code) || expected.contains(answer.status.code) { return answer }
        throw await refusal(answer, request, role, keys)
    }

    /// The body of the answer to a request, which is asked again while that may help.
    ///
    /// Throws the failures of buckets.
    func body(of request: Request, for role: ByteRole) async throws(ReelFailure) -> Data {
        try await persisting(request.address, role) {
            Data(try await self.ask(request, for: role).body.collect(upTo: 16 << 20).readableBytesView)
        }
    }

    /// Does something with the store again while that may help.
    func persisting<R>(
        _ address: ObjectAddress, _ role: ByteRole, for patience: Duration = .seconds(60),
        _ attempt: () async throws -> R
    ) async throws(ReelFailure) -> R {
        var persistence = Persistence(patience) {
            ReelFailure(.bucketUnanswered(role: role, address: address.text, said: $0))
        }
        while true {
            do { return try await attempt() } catch { try await persistence.rest(after: error) }
        }
    }

    func url(of address: ObjectAddress) -> String {
        let (_, base, path) = place(of: address)
        return base + path
    }

    private static func isAddress(_ endpoint: String) -> Bool {
        guard let url = URL(string: endpoint), let scheme = url.scheme?.lowercased(), let host = url.host() else {
            return false
        }
        return ["http", "https"].contains(scheme) && !host.isEmpty
    }

    /// Host, scheme with host, and encoded path of an address. Amazon's buckets are hosts of their own, unless a
    /// certificate would not fit.
    private func place(of address: ObjectAddress) -> (host: String, base: String, path: String) {
        let endpoint = settings.endpoint.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        let base = endpoint ?? "https://s3.\(settings.region).amazonaws.com"
        let host = base.split(separator: "/").dropFirst().first.map(String.init) ?? ""
        guard endpoint == nil, !address.bucket.contains(".") else {
            let below = base.split(separator: "/").dropFirst(2).map { "/" + $0 }.joined()
            let root = below.isEmpty ? base : String(base.dropLast(below.utf8.count))
            return (host, root, "\(below)/\(address.bucket)/\(address.encodedKey)")
        }
        return ("\(address.bucket).\(host)", "https://\(address.bucket).\(host)", "/" + address.encodedKey)
    }

    // MARK: Refusals

    struct Refusal: Decodable {
        var Code: String
        var Region: String?
    }

    /// The error that an answer stands for: a `ReelFailure`, or `Passing`.
    private func refusal(
        _ answer: HTTPClientResponse, _ request: Request, _ role: ByteRole, _ keys: Credentials
    ) async -> any Error {
        let body = try? await answer.body.collect(upTo: 1 << 16)
        let said = body.flatMap { try? XMLDecoder().decode(Refusal.self, from: Data($0.readableBytesView)) }
        return await refusal(said, answer, request, role, keys)
    }

    private func refusal(
        _ said: Refusal?, _ answer: HTTPClientResponse, _ request: Request, _ role: ByteRole, _ keys: Credentials
    ) async -> any Error {
        let address = request.address.text
        switch said?.Code {
        case "NoSuchBucket": return ReelFailure(.bucketMissing(role: role, address: address))
        case "NoSuchKey": return ReelFailure(.objectMissing(role: role, address: address))
        case "SignatureDoesNotMatch", "InvalidAccessKeyId", "AuthFailure":
            return ReelFailure(.bucketKeysWrong(role: role, address: address))
        case "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
            await chain.forget(keys)
            return keys.expires == nil
                ? ReelFailure(.bucketKeysExpired(role: role, address: address))
                : Passing(said: "the session's token has expired")
        case "RequestTimeTooSkewed":
            let theirs = answer.headers.first(name: "Date").flatMap { try? Date($0, strategy: httpDates) }
            let seconds = theirs.map { Int64($0.timeIntervalSinceNow) }
            return ReelFailure(.bucketClockDiffers(role: role, address: address, seconds: seconds))
        case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException":
            let region = answer.headers.first(name: "x-amz-bucket-region") ?? said?.Region
            return ReelFailure(
                .bucketElsewhere(role: role, address: address, region: region, asked: settings.region))
        case "SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable", "OperationAborted":
            return Passing(said: said?.Code ?? "", wait: answer.passing?.wait)
        default: break
        }
        if let passing = answer.passing { return passing }
        switch answer.status.code {
        case 301, 307:
            return ReelFailure(
                .bucketElsewhere(
                    role: role, address: address, region: answer.headers.first(name: "x-amz-bucket-region"),
                    asked: settings.region))
        case 401, 403: return ReelFailure(.bucketDenied(role: role, address: address))
        case 404: return ReelFailure(.objectMissing(role: role, address: address))
        default:
            let words = said.map { "\(answer.status.code) \($0.Code)" } ?? "\(answer.status)"
            return ReelFailure(.bucketMisanswered(role: role, address: address, said: words))
        }
    }
}

extension ByteBuffer {
    /// SHA-256 of the bytes in hexadecimal.
    fileprivate var sha256: String {
        var hash = SHA256()
        withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
        return Hexadecimal.text(hash.finalize())
    }
}
