/// The identity of a store: 16 hexadecimal digits, chosen at random when it was made.
public struct StoreID: Hashable, Sendable, CustomStringConvertible {
    /// The digits.
    public let text: String

    /// Takes any text as an id.
    public init(_ text: String) { self.text = text }

    /// The digits.
    public var description: String { text }
}

extension StoreID: Codable {
    /// Reads an id that is encoded as a string.
    public init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    /// Encodes the id as a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
