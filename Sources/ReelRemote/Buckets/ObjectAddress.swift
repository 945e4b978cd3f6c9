internal import Foundation

/// An object of a bucket, written as s3://bucket/key. The key stands there as it is, without percent-encoding.
package struct ObjectAddress: Hashable, Sendable {
    package let bucket: String
    package let key: String

    package enum Flaw: String, Error {
        case scheme = "It must begin with s3://."
        case bucket = "A bucket's name has 3 to 63 letters, digits, dots and hyphens."
        case noKey = "It names a bucket, and no object in it."
        case longKey = "Its key has more than 1024 bytes."
    }

    package init(bucket: String, key: String) { (self.bucket, self.key) = (bucket, key) }

    /// Source: "Bucket naming rules" and "Naming Amazon S3 objects" in the user guide of Amazon S3. Capitals and
    /// underscores, as other stores and old buckets have them, are taken, too.
    package init(_ text: String) throws(Flaw) {
        guard text.hasPrefix("s3://") else { throw .scheme }
        let parts = text.dropFirst(5).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let bucket = parts.first.map(String.init) ?? ""
        guard bucket.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._\-]{2,62}/) != nil else { throw .bucket }
        let key = parts.count > 1 ? String(parts[1]) : ""
        guard !key.isEmpty else { throw .noKey }
        guard key.utf8.count <= 1024 else { throw .longKey }
        self.init(bucket: bucket, key: key)
    }

    package var text: String { "s3://\(bucket)/\(key)" }

    /// The key as the path of a URL, without a slash before it.
    ///
    /// Source: "Create a signed AWS API request" in the user guide of AWS IAM: every byte is encoded but unreserved
    /// characters and slashes.
    var encodedKey: String { key.awsEncoded(butNot: "/") }
}

extension String {
    /// Percent-encodes all bytes except the unreserved characters of RFC 3986 and the ones named.
    func awsEncoded(butNot others: String = "") -> String {
        var encoded = ""
        for byte in utf8 {
            let character = Character(UnicodeScalar(byte))
            let isUnreserved = byte < 128 && (character.isLetter || character.isNumber || "-._~".contains(character))
            if isUnreserved || others.contains(character) {
                encoded.append(character)
            } else {
                encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}
