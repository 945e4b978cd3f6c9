internal import ReelCore
internal import ReelWords

/// The URL of a web server, in one form for all ways to write it.
package struct WebURL: Hashable, Sendable {
    package enum Host: Hashable, Sendable {
        /// Lower-case letters, digits, hyphens and dots.
        case name(String)
        case address(IPAddress)
    }

    package enum Flaw: String, Error {
        case long = "It has more than 2000 characters."
        case characters = "It has characters that no URL has: write them percent-encoded, a host in Punycode."
        case scheme = "It must begin with https:// or http://."
        case user = "It must not name a user."
        case fragment = "It must not have a fragment (#)."
        case host = "Its host must be a name of DNS, or an address as 192.0.2.1 or [2001:db8::1]."
        case port = "Its port must be 1 to 65535."
    }

    /// With scheme and host in lower case.
    package let text: String
    /// `http` or `https`.
    package let scheme: String
    package let host: Host
    package let port: Int

    package init(_ text: String) throws(Flaw) {
        guard text.utf8.count <= 2000 else { throw .long }
        guard !text.contains("#") else { throw .fragment }
        guard text.utf8.allSatisfy(WebURL.legal.contains) else { throw .characters }
        guard let match = text.wholeMatch(of: /(?i)(https?):\/\/([^\/?]*)(.*)/) else { throw .scheme }
        let (scheme, authority) = (match.1.lowercased(), match.2.lowercased())
        guard !authority.contains("@") else { throw .user }
        guard let parts = authority.wholeMatch(of: /(\[[^\]]*\]|[^:\[\]]*)(:.*)?/) else { throw .host }
        self.scheme = scheme
        host = try WebURL.host(parts.1)
        if let given = parts.2?.dropFirst() {
            guard given.wholeMatch(of: /[1-9][0-9]{0,4}/) != nil, let port = Int(given), port <= 65535 else {
                throw .port
            }
            self.port = port
        } else {
            port = scheme == "https" ? 443 : 80
        }
        self.text = "\(scheme)://\(authority)\(match.3)"
    }

    private static func host(_ text: Substring) throws(Flaw) -> Host {
        if text.hasPrefix("[") {
            guard text.contains(":"), let address = IPAddress(text.dropFirst().dropLast()) else { throw .host }
            return .address(address)
        }
        if let address = IPAddress(text) { return .address(address) }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 253,
            labels.allSatisfy({ $0.wholeMatch(of: /[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/) != nil }),
            // Some programs take 127.1, 0x7f.1 and 2130706433 for addresses.
            labels.last?.wholeMatch(of: /[0-9]+|0x[0-9a-f]*/) == nil
        else { throw .host }
        return .name(String(text))
    }

    /// Its name in the log, without path and query, which may be secret.
    package var origin: String { text.prefix { $0 != "?" }.split(separator: "/").prefix(2).joined(separator: "//") }

    private static let legal = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%:/?#[]@!$&'()*+,;=".utf8)
}

/// A host that may be asked although it is not public: by its name, with any addresses, or by a network.
package struct AllowedHost: ExplainedArgument {
    package static let forms = "a host, an address or a network (media.internal, 127.0.0.1, 10.0.0.0/8)"

    private enum Kind {
        case name(String)
        case network(IPNetwork)
    }

    private let kind: Kind

    /// Reads the name of a host, an address, or a network as 10.0.0.0/8; nil for anything else.
    package init?(_ text: String) {
        if let network = IPNetwork(text) {
            kind = .network(network)
        } else if case .name(let name)? = (try? WebURL("http://\(text)/"))?.host, name == text.lowercased() {
            kind = .name(name)
        } else {
            return nil
        }
    }

    package func matches(_ address: IPAddress, _ host: WebURL.Host) -> Bool {
        switch kind {
        case .name(let name): host == .name(name)
        case .network(let network): network.contains(address)
        }
    }
}
