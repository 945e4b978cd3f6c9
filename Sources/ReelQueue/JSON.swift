internal import Foundation
internal import ReelCore

/// Values as the board keeps them.
enum JSON {
    static func text(_ value: some Encodable) throws(ReelFailure) -> String {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            throw ReelFailure(.usage, "cannot be written as JSON: \(error)")
        }
    }

    static func value<Value: Decodable>(_ text: some StringProtocol, as type: Value.Type = Value.self)
        throws(ReelFailure) -> Value
    {
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch {
            throw ReelFailure(.unreachable, "the board holds something that this version cannot read: \(error)")
        }
    }
}
