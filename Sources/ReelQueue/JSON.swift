internal import Foundation
internal import ReelCore

/// Values as JSON, as the board holds them.
enum JSON {
    static func text(_ value: some Encodable) throws(ReelFailure) -> String {
        do {
            return try CanonicalJSON.text(of: value)
        } catch {
            throw unreadable("\(error)")
        }
    }

    /// Values as JSON, one a line. The JSON of a value holds no line end.
    static func lines(_ values: [some Encodable]) throws(ReelFailure) -> String {
        var lines: [String] = []
        for value in values { lines.append(try text(value)) }
        return lines.joined(separator: "\n")
    }

    static func value<Value: Decodable>(_ text: some StringProtocol, as type: Value.Type = Value.self)
        throws(ReelFailure) -> Value
    {
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch {
            throw unreadable("\(error)")
        }
    }

    static func unreadable(_ what: String) -> ReelFailure {
        ReelFailure(.boardUnreadable(said: what))
    }
}
