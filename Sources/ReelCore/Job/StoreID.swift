/// The identity of a store: 16 hexadecimal digits, chosen at random when it was made.
public struct StoreID: Hashable, Sendable, CustomStringConvertible {
    /// The digits.
    public let text: String

    public init(_ text: String) { self.text = text }

    public var description: String { text }
}

extension StoreID: Codable {
    public init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
