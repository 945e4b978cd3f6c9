#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Any JSON value. Numbers are decimal, exactly as they are written.
package enum JSONValue: Hashable, Codable, Sendable {
    case null
    case bool(Bool)
    /// `Decimal.nan` for a number that decimals cannot hold.
    case number(Decimal)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    package init(from decoder: any Decoder) throws {
        // An attempt that fails costs more than one that succeeds, so the commonest come first.
        let single = try decoder.singleValueContainer()
        if let string = try? single.decode(String.self) {
            self = .string(string)
        } else if let number = try? single.decode(Decimal.self) {
            self = .number(number)
        } else if let keyed = try? decoder.container(keyedBy: Key.self) {
            self = try JSONValue.object(in: keyed, only: JSONValue.only.flatMap { decoder.userInfo[$0] })
        } else if var list = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !list.isAtEnd { values.append(try list.decode(JSONValue.self)) }
            self = .array(values)
        } else if let bool = try? single.decode(Bool.self) {
            self = .bool(bool)
        } else {
            self = single.decodeNil() ? .null : .number(.nan)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        switch self {
        case .null: try single.encodeNil()
        case .bool(let bool): try single.encode(bool)
        case .number(let number): try single.encode(number)
        case .string(let string): try single.encode(string)
        case .array(let values): try single.encode(values)
        case .object(let values): try single.encode(values)
        }
    }

    /// The key under which a decoder's user info has the selection of `init(_:within:only:)`.
    private static let only = CodingUserInfoKey(rawValue: "reel.only")

    private static func object(in keyed: KeyedDecodingContainer<Key>, only: (any Sendable)?) throws -> JSONValue {
        let only = only as? [String: String] ?? [:]
        var object: [String: JSONValue] = [:]
        for key in keyed.allKeys {
            guard let wanted = only[key.stringValue] else {
                object[key.stringValue] = try keyed.decode(JSONValue.self, forKey: key)
                continue
            }
            guard let inner = try? keyed.nestedContainer(keyedBy: Key.self, forKey: key) else {
                object[key.stringValue] = .null
                continue
            }
            let value = try inner.decodeIfPresent(JSONValue.self, forKey: Key(wanted))
            object[key.stringValue] = .object(value.map { [wanted: $0] } ?? [:])
        }
        return .object(object)
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ key: String) { stringValue = key }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension JSONValue {
    /// Reads a text of any origin.
    ///
    /// - Parameter only: for a key, the only key that is read of an object under it: other values there may take most of a
    ///   file. A value of such a key that is no object is read as null.
    package init(_ text: Data, within bounds: JSONBounds, only: [String: String] = [:]) throws(JSONFault) {
        if let fault = bounds.excess(of: text) { throw fault }
        let decoder = JSONDecoder()
        if let key = JSONValue.only { decoder.userInfo[key] = only }
        do {
            self = try decoder.decode(JSONValue.self, from: text)
        } catch {
            throw .notJSON
        }
    }
}

/// How deep the values of a JSON text may be nested, and how many there may be.
///
/// The time that `JSONDecoder` takes grows with the cube of the depth, and a text of a few bytes can hold a value for every
/// second of them. So texts of any origin are measured before they are decoded.
package struct JSONBounds: Sendable {
    /// A value in no other is 1 deep.
    package var depth: Int
    package var values: Int

    package init(depth: Int, values: Int) { (self.depth, self.values) = (depth, values) }

    /// For files that a user names. `JSONDecoder` itself refuses more than 512 levels.
    package static let file = JSONBounds(depth: 1000, values: 16 << 20)

    /// Which bound a text exceeds; nil if neither. Reads each byte once, and does not tell whether the text is JSON. An empty
    /// list or object counts as two values.
    package func excess(of text: some Sequence<UInt8>) -> JSONFault? {
        var (open, found) = (0, 1)
        var isInString = false, isEscaped = false
        for byte in text {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                open += 1
                found += 1
                // The values in it are a step deeper.
                if open >= depth { return .tooDeep(most: depth) }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): open -= 1
            case UInt8(ascii: ","): found += 1
            default: continue
            }
            if found > values { return .tooManyValues(most: values) }
        }
        return nil
    }
}

/// Why a text is not read as JSON. The description completes a sentence about the text.
package enum JSONFault: Error, Hashable, CustomStringConvertible {
    case tooDeep(most: Int)
    case tooManyValues(most: Int)
    case notJSON

    package var description: String {
        switch self {
        case .tooDeep(let most): "its values lie more than \(most) deep in one another"
        case .tooManyValues(let most): "it has more than \(most) values"
        case .notJSON: "it cannot be read as JSON"
        }
    }
}
