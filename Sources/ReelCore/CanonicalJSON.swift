#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// JSON whose bytes are the same for the same value: keys sorted, no spaces, slashes as they are. All that is kept, sent
/// or hashed is written with it.
public enum CanonicalJSON {
    /// The value as JSON.
    ///
    /// Throws `EncodingError` where the value holds what JSON cannot, a number that is none for instance.
    public static func bytes(of value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// The value that JSON holds.
    ///
    /// Throws `DecodingError` where it is something else, and what the type's own decoding throws: a `ReelFailure` for
    /// a version that this release does not know.
    public static func value<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}
