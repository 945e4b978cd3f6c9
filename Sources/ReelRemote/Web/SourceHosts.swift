internal import ReelCore

/// The web servers and buckets from which this process reads sources.
package struct SourceHosts: Sendable {
    /// Nil for all.
    private let allowed: [AllowedHost]?
    private let buckets: Set<String>?

    /// Every server and bucket that the user names. A redirection to another host leads to public addresses only.
    package static let any = SourceHosts(nil, nil)

    /// These alone, also behind redirections. A name stands for whatever addresses it has.
    ///
    /// - Parameter buckets: nil for all that this process's keys may read.
    package init(_ allowed: [AllowedHost], buckets: Set<String>?) { self.init(Optional(allowed), buckets) }

    private init(_ allowed: [AllowedHost]?, _ buckets: Set<String>?) {
        (self.allowed, self.buckets) = (allowed, buckets)
    }

    /// Throws `.urlHostForbidden` if objects of the bucket may not be read.
    func check(_ address: ObjectAddress) throws(ReelFailure) {
        guard buckets?.contains(address.bucket) ?? true else {
            throw ReelFailure(.urlHostForbidden(url: address.text))
        }
    }

    /// The addresses at which a URL may be asked for, IPv4 first, as most servers listen there; at least one.
    ///
    /// Throws `.urlHostForbidden` if no address is allowed, and `.urlUnanswered` if its name has no address.
    ///
    /// - Parameter first: the URL that led to it by redirections; nil for none.
    func addresses(of url: WebURL, redirectedFrom first: WebURL?) async throws(ReelFailure) -> [IPAddress] {
        let found: [IPAddress]
        switch url.host {
        case .address(let address): found = [address]
        case .name(let name):
            found = await Resolver.addresses(of: name)
            guard !found.isEmpty else {
                throw ReelFailure(.urlUnanswered(url: url.shown, said: "the name \(name) has no address"))
            }
        }
        let admitted = found.filter { admits($0, url, first) }
        guard !admitted.isEmpty else { throw ReelFailure(.urlHostForbidden(url: url.shown)) }
        return admitted.filter { $0.bytes.count == 4 } + admitted.filter { $0.bytes.count != 4 }
    }

    private func admits(_ address: IPAddress, _ url: WebURL, _ first: WebURL?) -> Bool {
        guard let allowed else { return first.map { $0.host == url.host } ?? true || address.isPublic }
        return allowed.contains { $0.matches(address, url.host) }
    }
}

extension WebURL {
    /// The URL without its query, which may be a signature.
    package var shown: String { WebAddress.shown(text) }

    var isSecure: Bool { scheme == "https" }
}
