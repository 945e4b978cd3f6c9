internal import ReelCore

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
