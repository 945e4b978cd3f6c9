internal import Crypto
package import Foundation
package import ReelCore
package import ReelRemote
internal import ReelStore

/// Which webhooks a server takes and sends, and how it signs them.
package struct WebhookPolicy: Sendable {
    let secret: WebhookSecret
    /// Receivers that get webhooks although they are not public.
    let allowed: [AllowedHost]

    package init(secret: WebhookSecret, allowed: [AllowedHost] = []) {
        (self.secret, self.allowed) = (secret, allowed)
    }

    package func admits(_ address: IPAddress, of host: WebURL.Host) -> Bool {
        address.isPublic || allowed.contains { $0.matches(address, host) }
    }

    /// Whether a request may name it. Names are resolved later, when the webhook is sent.
    package func admits(_ url: WebURL) -> Bool {
        if case .address(let address) = url.host { admits(address, of: url.host) } else { true }
    }
}

/// The secret with which receivers verify that a webhook comes from this server.
package struct WebhookSecret: Sendable {
    private let key: SymmetricKey

    static let leastBytes = 16

    package init(_ text: String) { key = SymmetricKey(data: Data(text.utf8)) }

    /// Reads the secret from a file: its text, without the line break at its end.
    ///
    /// Throws `.secretFileUnusable` and `.secretFileOpen` as `SecretFile.read` does, and `.secretTooShort` for fewer
    /// than 16 bytes.
    package static func read(_ path: String) throws(ReelFailure) -> WebhookSecret {
        let text = try SecretFile.read(path, of: .server).trimmingCharacters(in: .newlines)
        guard text.utf8.count >= leastBytes else { throw ReelFailure(.secretTooShort(path: path, least: leastBytes)) }
        return WebhookSecret(text)
    }

    /// The value of the field `Reel-Signature`.
    ///
    /// - Parameters:
    ///   - body: the message.
    ///   - time: seconds since 1970; signed, too, so that a receiver can refuse an old message that is sent again.
    package func signature(of body: Data, at time: Int) -> String {
        var code = HMAC<SHA256>(key: key)
        code.update(data: Data("\(time).".utf8))
        code.update(data: body)
        return "t=\(time),v1=\(Hexadecimal.text(code.finalize()))"
    }
}
