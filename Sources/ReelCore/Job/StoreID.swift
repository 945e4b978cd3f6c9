/// The identity of a store: 16 hexadecimal digits, chosen at random when it was made.
package struct StoreID: Hashable, Sendable, CustomStringConvertible {
    /// The digits.
    package let text: String

    /// Takes any text as an id.
    package init(_ text: String) { self.text = text }

    /// The digits.
    package var description: String { text }
}

extension StoreID: Codable {
    /// Reads an id that is encoded as a string.
    package init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    /// Encodes the id as a string.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
