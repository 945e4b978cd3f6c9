/// The place of bytes: a file, or a URL. A store makes locators and an engine opens them; no code between reads or changes
/// one. An engine gets locators only of the bytes that its request needs, and none with a URL, which may be secret:
/// the process that starts it puts a file in the place of each, and fetches the bytes that the engine asks for.
package struct Locator: Hashable, Sendable, CustomStringConvertible, Codable {
    // In JSON, the keys tell the kind of place: `{"file":"/store/jobs/…"}`.
    /// The path of the file, or the URL.
    package let file: String
    /// The version of the bytes at a URL; nil for a file.
    package let web: WebVersion?
    /// In an engine, for a file that gets its bytes as it asks for them.
    package let fetched: FetchedBytes?

    private init(_ file: String, web: WebVersion? = nil, fetched: FetchedBytes? = nil) {
        (self.file, self.web, self.fetched) = (file, web, fetched)
    }

    package static func file(_ path: String) -> Locator { Locator(path) }

    /// Bytes on a web server or in a bucket. They must still be of this version when they are read.
    package static func web(_ url: String, _ version: WebVersion) -> Locator { Locator(url, web: version) }

    /// A file whose bytes are fetched.
    package static func fetched(_ bytes: FetchedBytes, into path: String) -> Locator { Locator(path, fetched: bytes) }

    /// The name of the bytes in messages.
    package var name: String { fetched?.name ?? (web == nil ? file : WebAddress.shown(file)) }

    package var description: String { name }
}

/// The version of bytes on a web server or in a bucket. Bytes of another version differ in size, tag or time.
package struct WebVersion: Hashable, Codable, Sendable {
    package let size: Int64
    /// The strong `ETag`, with its quotes; nil if the server gives none.
    package let tag: String?
    /// `Last-Modified`, in seconds since 1970; nil if the server does not say.
    package let modified: Int64?

    package init(size: Int64, tag: String?, modified: Int64?) {
        (self.size, self.tag, self.modified) = (size, tag, modified)
    }
}

/// Bytes that an engine asks for.
package struct FetchedBytes: Hashable, Codable, Sendable {
    package let name: String
    package let size: Int64
    /// By which the engine names them when it asks.
    package let number: Int

    package init(name: String, size: Int64, number: Int) { (self.name, self.size, self.number) = (name, size, number) }
}

/// How bytes on a web server or in a bucket are named.
package enum WebAddress {
    /// Whether a text is a URL and not the path of a file, whatever its scheme.
    package static func isWritten(_ text: String) -> Bool {
        guard let end = text.firstRange(of: "://")?.lowerBound, let first = text.first, first.isASCII, first.isLetter
        else { return false }
        return text[..<end].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    /// A name that a file with the bytes could have: the last part of the URL's path; a path as it is.
    package static func fileName(_ text: String) -> String {
        guard isWritten(text) else { return text }
        let path = (isObject(text) ? text[...] : text.prefix { $0 != "?" && $0 != "#" }).split(separator: "/")
            .dropFirst(2)
        return path.last.map(String.init) ?? "video"
    }

    /// Whether it names an object of a bucket, whose key stands there as it is.
    package static func isObject(_ text: String) -> Bool { text.hasPrefix("s3://") }

    /// The URL without its query, which may be a signature.
    package static func shown(_ url: String) -> String {
        guard isWritten(url), !isObject(url), let query = url.firstIndex(of: "?") else { return url }
        return url[..<query] + "?…"
    }
}
