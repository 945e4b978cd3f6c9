#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes JSON whose bytes are the same for equal values: keys sorted, no spaces, slashes not escaped. Everything that
/// reel stores, sends or hashes as JSON is written with it.
package enum CanonicalJSON {
    /// Encodes a value as JSON.
    ///
    /// Throws `EncodingError` if JSON cannot hold the value, for instance a number that is not finite.
    package static func bytes(of value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// Encodes a value as one line of JSON, without its end. Throws as `bytes` does.
    package static func text(of value: some Encodable) throws -> String {
        String(decoding: try bytes(of: value), as: UTF8.self)
    }

    /// Decodes a value from JSON.
    ///
    /// Throws `DecodingError` if the bytes are not JSON of this type, and any error of the type's own decoding: a
    /// `ReelFailure` for a version that this release does not know.
    package static func value<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}
