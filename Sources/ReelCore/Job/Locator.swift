/// Where bytes lie, in the words of the store that has them. A store makes locators, and an engine opens them: nothing
/// in between reads them or makes one from another. An engine gets locators of the bytes that its request needs, and no
/// more.
package enum Locator: Hashable, Sendable {
    /// A file, by its path.
    case file(String)

    /// What messages call the bytes.
    package var name: String {
        switch self {
        case .file(let path): path
        }
    }
}

extension Locator: CustomStringConvertible {
    /// The name.
    package var description: String { name }
}

/// Encoded as an object whose one key is the kind: `{"file":"/store/jobs/…"}`.
extension Locator: Codable {
    private enum CodingKeys: String, CodingKey {
        case file
    }

    /// Throws `DecodingError` if the object has no key of a known kind.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self = .file(try container.decode(String.self, forKey: .file))
    }

    /// Writes the kind and its value.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .file(let path): try container.encode(path, forKey: .file)
        }
    }
}
