internal import Crypto
package import Foundation
package import ReelCore
internal import ReelStore

/// The secret by which receivers know that a webhook is of this server.
package struct WebhookSecret: Sendable {
    private let key: SymmetricKey

    /// The fewest bytes of one.
    static let least = 16

    /// - Parameter text: of any length.
    package init(_ text: String) { key = SymmetricKey(data: Data(text.utf8)) }

    /// Reads the secret from a file: its text, without the line break at its end.
    ///
    /// Throws `.secretFileUnusable` and `.secretFileOpen` as `SecretFile.read` does, and `.secretTooShort` for fewer than 16
    /// bytes.
    package static func read(_ path: String) throws(ReelFailure) -> WebhookSecret {
        let text = try SecretFile.read(path, of: .server).trimmingCharacters(in: .newlines)
        guard text.utf8.count >= least else { throw ReelFailure(.secretTooShort(path: path, least: least)) }
        return WebhookSecret(text)
    }

    /// The value of the field `Reel-Signature`.
    ///
    /// - Parameters:
    ///   - body: what is sent.
    ///   - time: seconds since 1970; part of what is signed, so that a receiver can refuse an old message that is sent again.
    package func signature(of body: Data, at time: Int) -> String {
        var code = HMAC<SHA256>(key: key)
        code.update(data: Data("\(time).".utf8))
        code.update(data: body)
        return "t=\(time),v1=\(Hexadecimal.text(code.finalize()))"
    }
}
