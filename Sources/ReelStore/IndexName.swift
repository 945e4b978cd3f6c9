internal import ReelCore

/// What an index describes of a source, and how it was made.
package enum IndexKind: String, CaseIterable, Sendable {
    /// The whole source.
    case index
    /// The whole source, all of which was decoded since tables and headers had proved wrong.
    case decoded
    /// The sound alone, of a source that is only heard.
    case sound
}

/// The name of an index in its source's folder: KIND.vVERSION.SHA256.
struct IndexName: Hashable {
    let kind: IndexKind
    /// `SourceIndex.version` of the index.
    let version: Int
    /// SHA-256 of the file, in hexadecimal.
    let hash: String

    init(kind: IndexKind, version: Int = Int(SourceIndex.version), hash: String) {
        self.kind = kind
        self.version = version
        self.hash = hash
    }

    var text: String { "\(kind.rawValue).v\(version).\(hash)" }

    /// Parses a name; nil for anything that `text` never produces.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let kind = IndexKind(rawValue: parts[0]), let version = Int(parts[1].dropFirst()),
            ContentHash.isOne(parts[2])
        else { return nil }
        self.init(kind: kind, version: version, hash: parts[2])
        guard version >= 0, self.text == text else { return nil }
    }
}
