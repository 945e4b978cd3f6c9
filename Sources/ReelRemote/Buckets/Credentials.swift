internal import AsyncHTTPClient
package import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import ReelCore
internal import XMLCoder

/// The keys with which requests to an object store are signed.
package struct Credentials: Hashable, Sendable {
    package var id: String
    package var secret: String
    /// Of keys for a limited time.
    package var token: String?
    package var expires: Date?

    package init(id: String, secret: String, token: String? = nil, expires: Date? = nil) {
        (self.id, self.secret, self.token, self.expires) = (id, secret, token, expires)
    }
}

/// Why there are no keys.
struct CredentialFault: Error {
    var said: String
    /// The place that has them does not answer now.
    var passes = false
}

/// Finds keys where programs for S3 look, in their order, and renews them before they expire: the environment, the token of
/// a pod, the files of ~/.aws, a container's service, the instance's service.
///
/// Source: "Standardized credential providers" in the AWS SDKs and Tools Reference Guide.
actor CredentialChain {
    private let settings: AWSSettings
    private let http: OwnedClient
    private var found: Credentials?

    /// Keys are renewed this many seconds before they expire, since a request may take long.
    private static let margin: TimeInterval = 300
    /// Seconds that a service on this machine or network has to answer.
    private static let patience = TimeAmount.seconds(5)

    init(_ settings: AWSSettings, _ http: OwnedClient) { (self.settings, self.http) = (settings, http) }

    /// Keys that are valid now.
    func current() async throws -> Credentials {
        if let found, found.expires.map({ $0.timeIntervalSinceNow > CredentialChain.margin }) ?? true { return found }
        do {
            let new = try await find()
            found = new
            return new
        } catch {
            // Keys that still hold for some minutes serve until others can be had.
            if let found, let expires = found.expires, expires.timeIntervalSinceNow > 0 { return found }
            throw error
        }
    }

    /// Forgets keys that a store has called expired, so that others are fetched.
    func forget(_ old: Credentials) { if found == old { found = nil } }

    private func find() async throws -> Credentials {
        if let keys = settings.keysOfEnvironment { return keys }
        if let (file, role) = settings.webIdentity { return try await keys(of: role, tokenFile: file) }
        if let keys = settings.keysOfProfile { return keys }
        if let profile = settings.profileNamed {
            throw CredentialFault(said: "the profile \(profile) of ~/.aws has none")
        }
        if let (url, authorization) = try settings.containerService {
            return try await keys(from: url, headers: authorization.map { [("Authorization", $0)] } ?? [])
        }
        if let service = settings.instanceService, let keys = try await keys(ofInstanceAt: service) { return keys }
        throw CredentialFault(
            said:
                "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and ~/.aws have no keys, and no service of this host gives any"
        )
    }

    // MARK: Services

    private struct Served: Decodable {
        var AccessKeyId: String
        var SecretAccessKey: String
        var Token: String?
        var Expiration: String?
    }

    private func keys(from url: String, headers: [(String, String)]) async throws -> Credentials {
        let body = try await ask(.GET, url, headers)
        guard let served = try? JSONDecoder().decode(Served.self, from: body) else {
            throw CredentialFault(said: "\(url) answers without keys")
        }
        return try Credentials(
            id: served.AccessKeyId, secret: served.SecretAccessKey, token: served.Token,
            expires: CredentialChain.moment(served.Expiration))
    }

    /// Source: "Use the Instance Metadata Service", version 2, in the user guide of Amazon EC2. Nil if this machine has
    /// no such service.
    private func keys(ofInstanceAt service: String) async throws -> Credentials? {
        let session: String
        do {
            let lifetime = ("X-aws-ec2-metadata-token-ttl-seconds", "21600")
            session = String(
                decoding: try await ask(.PUT, service + "/latest/api/token", [lifetime], .seconds(1)), as: UTF8.self)
        } catch let fault as CredentialFault where fault.passes {
            throw fault
        } catch {
            return nil
        }
        let headers = [("X-aws-ec2-metadata-token", session)]
        let roles = service + "/latest/meta-data/iam/security-credentials/"
        let names = String(decoding: try await ask(.GET, roles, headers), as: UTF8.self)
        guard let role = names.split(whereSeparator: \.isNewline).first else {
            throw CredentialFault(said: "the instance has no role")
        }
        return try await keys(from: roles + role, headers: headers)
    }

    private struct AssumedRole: Decodable {
        var AssumeRoleWithWebIdentityResult: Result

        struct Result: Decodable { var Credentials: Keys }

        struct Keys: Decodable {
            var AccessKeyId: String
            var SecretAccessKey: String
            var SessionToken: String
            var Expiration: String
        }
    }

    /// Source: AssumeRoleWithWebIdentity in the API reference of AWS STS.
    private func keys(of role: String, tokenFile: String) async throws -> Credentials {
        guard let token = try? String(contentsOfFile: tokenFile, encoding: .utf8) else {
            throw CredentialFault(said: "\(tokenFile) of AWS_WEB_IDENTITY_TOKEN_FILE cannot be read")
        }
        let query = RequestSignature.query([
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", settings.roleSession),
            ("WebIdentityToken", token.trimmingCharacters(in: .whitespacesAndNewlines)),
        ])
        let type = ("Content-Type", "application/x-www-form-urlencoded")
        let body = try await ask(.POST, settings.tokenService, [type], body: query)
        guard let keys = try? XMLDecoder().decode(AssumedRole.self, from: body) else {
            throw CredentialFault(said: "\(settings.tokenService) answers without keys")
        }
        let made = keys.AssumeRoleWithWebIdentityResult.Credentials
        return try Credentials(
            id: made.AccessKeyId, secret: made.SecretAccessKey, token: made.SessionToken,
            expires: CredentialChain.moment(made.Expiration))
    }

    private static func moment(_ text: String?) throws -> Date? {
        guard let text else { return nil }
        let precise = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        if let date = (try? Date(text, strategy: .iso8601)) ?? (try? Date(text, strategy: precise)) { return date }
        throw CredentialFault(said: "its keys expire at \(text), which is no time")
    }

    /// The body of an answer. Throws a `CredentialFault` for an answer other than 200, and an error of the client.
    private func ask(
        _ method: HTTPMethod, _ url: String, _ headers: [(String, String)], _ patience: TimeAmount = patience,
        body: String? = nil
    ) async throws -> Data {
        var request = HTTPClientRequest.of(method, url)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let answer = try await http.client.execute(request, timeout: patience)
        guard answer.status == .ok else {
            throw CredentialFault(said: "\(url) answers \(answer.status)", passes: answer.passing != nil)
        }
        return Data(try await answer.body.collect(upTo: 1 << 20).readableBytesView)
    }
}
