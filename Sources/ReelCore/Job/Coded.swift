#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A value with a stable code and facts. In JSON it is an object whose only key is the code, with the facts under it.
public protocol Coded: Codable, Hashable, Sendable {}

extension FailureReason: Coded {}
extension Diagnostic: Coded {}

extension Coded {
    /// The code as it is stored.
    public var code: String { stored.code }

    /// The facts as they are stored: an object with their names as keys.
    public var facts: JSONValue { stored.facts }

    private var stored: (code: String, facts: JSONValue) {
        do {
            let object = try JSONDecoder().decode([String: JSONValue].self, from: JSONEncoder().encode(self))
            guard let (code, facts) = object.first else { preconditionFailure("a code is no object in JSON") }
            return (code, facts)
        } catch {
            // The values are names, integers and lists of them, all of which JSON can hold.
            preconditionFailure("a code is no JSON: \(error)")
        }
    }
}

/// Any JSON value whose numbers are whole.
public enum JSONValue: Hashable, Codable, Sendable {
    case null
    case bool(Bool)
    case number(Int64)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Throws `DecodingError` for a number that is not an integer of 64 bits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let values = try? container.decode([JSONValue].self) {
            self = .array(values)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Encodes the value as itself.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        }
    }
}
