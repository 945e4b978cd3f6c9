internal import Crypto
package import Foundation
internal import ReelCore

/// Signs requests: AWS Signature Version 4, in the form of S3, in which the path is encoded once.
///
/// Source: "Create a signed AWS API request" in the user guide of AWS IAM.
package struct RequestSignature {
    private let credentials: Credentials
    private let region: String

    package init(_ credentials: Credentials, region: String) { (self.credentials, self.region) = (credentials, region) }

    package typealias Field = (name: String, value: String)

    /// The parts of a request that are signed.
    package struct Signed {
        var method: String
        var path: String
        var query: [Field]
        var headers: [Field]
        var bodyHash: String

        /// - Parameters:
        ///   - path: as it stands in the URL, percent-encoded.
        ///   - query: not encoded.
        ///   - headers: `Host` among them.
        ///   - bodyHash: SHA-256 of the body in hexadecimal.
        package init(
            _ method: String, path: String, query: [Field] = [], headers: [Field],
            bodyHash: String = RequestSignature.hashOfNothing
        ) {
            (self.method, self.path, self.query, self.headers) = (method, path, query, headers)
            self.bodyHash = bodyHash
        }
    }

    /// The headers to add to a request: its time, the hash of its body, the session's token and the signature.
    package func headers(of request: Signed, at time: Date) -> [Field] {
        let moment = time.formatted(RequestSignature.times)
        var added: [Field] = [("x-amz-content-sha256", request.bodyHash), ("x-amz-date", moment)]
        if let token = credentials.token { added.append(("x-amz-security-token", token)) }
        let headers = (request.headers + added).map { ($0.name.lowercased(), RequestSignature.trimmed($0.value)) }
            .sorted { $0.0 < $1.0 }
        let names = headers.map(\.0).joined(separator: ";")
        let canonical = [
            request.method, request.path, RequestSignature.query(request.query),
            headers.map { "\($0.0):\($0.1)\n" }.joined(), names, request.bodyHash,
        ].joined(separator: "\n")
        let day = String(moment.prefix(8))
        let scope = "\(day)/\(region)/s3/aws4_request"
        let text = ["AWS4-HMAC-SHA256", moment, scope, Hexadecimal.text(SHA256.hash(data: Data(canonical.utf8)))]
            .joined(separator: "\n")
        let key = [region, "s3", "aws4_request", text].reduce(
            RequestSignature.code(day, key: Data("AWS4\(credentials.secret)".utf8))
        ) { RequestSignature.code($1, key: $0) }
        let authorization =
            "AWS4-HMAC-SHA256 Credential=\(credentials.id)/\(scope), SignedHeaders=\(names), "
            + "Signature=\(Hexadecimal.text(key))"
        return added + [("Authorization", authorization)]
    }

    /// A query as it is signed, and as it stands in the URL.
    static func query(_ items: [Field]) -> String {
        items.map { ($0.name.awsEncoded(), $0.value.awsEncoded()) }.sorted { $0 < $1 }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private static func code(_ text: String, key: Data) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: key)))
    }

    /// Without spaces at its ends, and one where there are several.
    private static func trimmed(_ value: String) -> String {
        value.split(separator: " ").joined(separator: " ")
    }

    private static let times = Date.ISO8601FormatStyle(
        dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted, timeZone: .gmt)
}

extension RequestSignature {
    package static let hashOfNothing = Hexadecimal.text(SHA256.hash(data: Data()))
}
