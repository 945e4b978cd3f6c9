internal import Foundation
internal import ReelCore

/// An answer of Redis.
enum Reply: Equatable, Sendable {
    case none
    case integer(Int)
    case string(String)
    case array([Reply])
    /// An error, with Redis's message.
    case error(String)

    var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The reply; nil for a reply of nil.
    var present: Reply? { self == .none ? nil : self }

    var integer: Int? { if case .integer(let number) = self { number } else { nil } }

    var array: [Reply]? { if case .array(let list) = self { list } else { nil } }

    /// A hash as Redis flattens it: name, value, name, value.
    var dictionary: [String: String]? {
        guard let list = array?.map(\.string), list.count.isMultiple(of: 2) else { return nil }
        var pairs: [String: String] = [:]
        for place in stride(from: 0, to: list.count, by: 2) {
            guard let name = list[place], let value = list[place + 1] else { return nil }
            pairs[name] = value
        }
        return pairs
    }
}

extension Reply {
    /// The failure to throw for a reply that the function or command should not give.
    var surprise: ReelFailure { ReelFailure(.boardUnreadable(said: "\(self)")) }

    func text() throws(ReelFailure) -> String {
        guard let string else { throw surprise }
        return string
    }

    func count() throws(ReelFailure) -> Int {
        guard let integer else { throw surprise }
        return integer
    }

    func texts() throws(ReelFailure) -> [String] {
        guard let texts = array?.compactMap(\.string) else { throw surprise }
        return texts
    }

    /// True for 1, false for 0.
    func flag() throws(ReelFailure) -> Bool {
        guard let integer, (0...1).contains(integer) else { throw surprise }
        return integer == 1
    }

    /// A raw value of an enumeration.
    func value<Value: RawRepresentable<String>>() throws(ReelFailure) -> Value {
        guard let value = Value(rawValue: try text()) else { throw surprise }
        return value
    }
}

/// Reads the elements of a list that Redis answered, one after the other. Each call throws `.boardUnreadable` if the
/// next element is of another type, or if there is none.
struct ReplyReader {
    private let whole: Reply
    private var rest: ArraySlice<Reply>

    init(_ reply: Reply) throws(ReelFailure) {
        guard let list = reply.array else { throw reply.surprise }
        whole = reply
        rest = list[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func text() throws(ReelFailure) -> String { try next(\.string) }

    mutating func integer() throws(ReelFailure) -> Int { try next(\.integer) }

    mutating func list() throws(ReelFailure) -> [Reply] { try next(\.array) }

    mutating func dictionary() throws(ReelFailure) -> [String: String] { try next(\.dictionary) }

    /// A text that is a raw value of an enumeration.
    mutating func value<Value: RawRepresentable<String>>() throws(ReelFailure) -> Value {
        guard let value = Value(rawValue: try text()) else { throw whole.surprise }
        return value
    }

    /// What of a worker is drained, as a number.
    mutating func drained() throws(ReelFailure) -> DrainScope? {
        switch try integer() {
        case 0: nil
        case 1: .worker
        case 2: .host
        default: throw whole.surprise
        }
    }

    /// Throws if an element is left.
    func end() throws(ReelFailure) { guard isAtEnd else { throw whole.surprise } }

    private mutating func next<Value>(_ value: (Reply) -> Value?) throws(ReelFailure) -> Value {
        guard let found = rest.popFirst().flatMap(value) else { throw whole.surprise }
        return found
    }
}

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

    static func unreadable(_ what: String) -> ReelFailure { ReelFailure(.boardUnreadable(said: what)) }
}
