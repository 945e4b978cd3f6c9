#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes JSON whose bytes are the same for equal values: keys sorted, no spaces, slashes not escaped. Everything that
/// reel stores, sends or hashes as JSON is written with it.
package enum CanonicalJSON {
    /// Throws `EncodingError` if JSON cannot hold the value, for instance a number that is not finite.
    package static func bytes(of value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// The bytes of a value that JSON can always hold, because it is made of strings, integers and lists of them.
    static func bytes(ofSafe value: some Encodable) -> [UInt8] {
        do {
            return try bytes(of: value)
        } catch {
            preconditionFailure("not JSON: \(error)")
        }
    }

    /// One line of JSON, without its end. Throws as `bytes` does.
    package static func text(of value: some Encodable) throws -> String {
        String(decoding: try bytes(of: value), as: UTF8.self)
    }

    /// Throws `DecodingError` if the bytes are not JSON of this type, and any error of the type's own decoding: a
    /// `ReelFailure` for a version that this release does not know.
    package static func value<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}

extension Decoder {
    /// The error of decoding a value that has the right form and is impossible.
    func impossible(_ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: reason))
    }
}

/// A value that is stored as a string: its description.
package protocol TextCoded: Codable, CustomStringConvertible {
    /// Reads a description; nil for any other text.
    static func read(_ text: String) -> Self?
}

extension TextCoded {
    /// Throws `DecodingError` for a string that describes no value.
    package init(from decoder: any Decoder) throws {
        let text = try String(from: decoder)
        guard let value = Self.read(text) else { throw decoder.impossible("\(text) is not a valid \(Self.self)") }
        self = value
    }

    package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

/// A case with a stable code and facts. In JSON it is an object whose only key is the code, with the facts under it.
/// The code is the case's name in lower case, with hyphens ("no-video"), and the facts have their names in Swift, so
/// neither may be renamed. Golden files guard them.
package protocol Coded: Codable, Hashable, Sendable {}

extension FailureReason: Coded {}
extension Diagnostic: Coded {}

extension Coded {
    package var code: String {
        // Only a case with facts has children: one, whose label is the case's name.
        (Mirror(reflecting: self).children.first?.label ?? "\(self)").hyphenated
    }

    /// The facts as they are stored: an object with their names as keys.
    package var facts: JSONValue {
        let stored = try? JSONDecoder().decode([String: JSONValue].self, from: JSONEncoder().encode(self))
        return stored?[code] ?? .object([:])
    }
}

/// An enumeration whose cases are stored under codes: their names in lower case, with hyphens.
package protocol CodeName: RawRepresentable, CaseIterable where RawValue == String {}

extension CodeName {
    fileprivate var name: String { rawValue.hyphenated }

    fileprivate init?(name: String) {
        // Lengths are compared first, since a code is made anew for each comparison.
        let length = name.utf8.count { $0 != UInt8(ascii: "-") }
        guard let known = Self.allCases.first(where: { $0.rawValue.utf8.count == length && $0.name == name }) else {
            return nil
        }
        self = known
    }
}

/// The codes of an enumeration with facts, as keys in JSON.
package protocol CodeKey: CodingKey, CodeName {}

extension CodeKey {
    package var stringValue: String { name }

    package init?(stringValue: String) { self.init(name: stringValue) }
}

/// A fact that is one of a few codes, as a string in JSON.
package protocol CodeFact: CodeName, Codable {}

// Not shared with TextCoded: beside the defaults of RawRepresentable, those would be ambiguous, and the compiler would
// write a third form without a word.
extension CodeFact {
    package init(from decoder: any Decoder) throws {
        let text = try String(from: decoder)
        guard let value = Self(name: text) else { throw decoder.impossible("\(text) is not a valid \(Self.self)") }
        self = value
    }

    package func encode(to encoder: any Encoder) throws { try name.encode(to: encoder) }
}

extension String {
    /// A Swift name in lower case, with a hyphen before each word but the first: "sourceIsURL" becomes "source-is-url",
    /// "outputNotAFile" "output-not-a-file".
    package var hyphenated: String {
        let letters = Array(utf8)
        let isCapital = letters.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
        var code: [UInt8] = []
        for (place, letter) in letters.enumerated() {
            let next = place + 1
            let endsCapitals = next < letters.count && !isCapital[next]
            if isCapital[place], place > 0, !isCapital[place - 1] || endsCapitals { code.append(UInt8(ascii: "-")) }
            code.append(isCapital[place] ? letter + 32 : letter)
        }
        return String(decoding: code, as: UTF8.self)
    }
}

/// The form of SHA-256 hashes that reel stores or sends.
package enum ContentHash {
    /// Whether the text is such a hash: 64 hexadecimal digits in lower case.
    package static func isOne(_ text: String) -> Bool { text.utf8.count == 64 && isHexadecimal(text) }

    /// Whether the text is hexadecimal in lower case and not empty.
    package static func isHexadecimal(_ text: String) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        return !text.isEmpty && text.utf8.allSatisfy { digits.contains($0) || letters.contains($0) }
    }
}

/// Bytes as text, as hashes are stored and sent.
package enum Hexadecimal {
    /// Two digits in lower case for each byte.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
