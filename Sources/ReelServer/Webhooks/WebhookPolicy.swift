import ReelWords

/// Which webhooks a server takes and sends, and how it signs them.
package struct WebhookPolicy: Sendable {
    let secret: WebhookSecret
    let allowed: [AllowedReceiver]

    /// - Parameters:
    ///   - secret: signs what is sent.
    ///   - allowed: receivers that are not public, and are sent to nevertheless.
    package init(secret: WebhookSecret, allowed: [AllowedReceiver] = []) {
        self.secret = secret
        self.allowed = allowed
    }

    /// Whether webhooks may be sent to an address that a host has.
    package func admits(_ address: IPAddress, of host: WebhookURL.Host) -> Bool {
        address.isPublic || allowed.contains { $0.matches(address, host) }
    }

    /// Whether a request may name it. What a name stands for is looked at when it is sent.
    package func admits(_ url: WebhookURL) -> Bool {
        if case .address(let address) = url.host { admits(address, of: url.host) } else { true }
    }
}

/// A receiver of webhooks that is not public, and is sent to nevertheless: a host by its name, whatever its addresses, or
/// addresses.
package struct AllowedReceiver: ExplainedArgument {
    /// The forms that it takes.
    package static let forms = "a host, an address or a network (hooks.internal, 127.0.0.1, 10.0.0.0/8)"

    private enum Kind {
        case name(String)
        case network(IPNetwork)
    }

    private let kind: Kind

    /// Reads the name of a host, an address, or a network as 10.0.0.0/8; nil for anything else.
    package init?(_ text: String) {
        if let network = IPNetwork(text) {
            kind = .network(network)
        } else if case .name(let name)? = (try? WebhookURL("http://\(text)/"))?.host, name == text.lowercased() {
            kind = .name(name)
        } else {
            return nil
        }
    }

    func matches(_ address: IPAddress, _ host: WebhookURL.Host) -> Bool {
        switch kind {
        case .name(let name): host == .name(name)
        case .network(let network): network.contains(address)
        }
    }
}
