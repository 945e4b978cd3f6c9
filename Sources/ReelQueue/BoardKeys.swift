package import ReelCore

/// The name of one of the boards that a Redis holds. A user of Redis who may use the keys of one namespace alone cannot
/// read or change the jobs of another.
package struct Namespace: Hashable, Sendable {
    /// The board that programs use if none is named.
    package static let main = Namespace(checked: "main")

    package let name: String

    private init(checked name: String) { self.name = name }

    /// Throws `.namespaceInvalid` unless the name has 1 to 64 letters, digits, dots, hyphens and underscores of ASCII:
    /// it becomes part of keys and of patterns in the lists of users.
    package init(_ name: String) throws(ReelFailure) {
        let isWord = name.utf8.allSatisfy { byte in
            switch UInt8(byte) {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isWord, (1...64).contains(name.utf8.count) else {
            throw ReelFailure(.namespaceInvalid(name: String(name.prefix(64))))
        }
        self.init(checked: name)
    }
}

/// Keys of a whole board, whose names are fixed but for the namespace. `docs/board.md` says what each holds. New ones
/// go to the end, since functions take keys by their place and serve earlier callers; so `journal`, which is not used
/// any more, keeps its place.
enum BoardKey: String, CaseIterable {
    case jobs, active, failed, store, schema, lease, run, virtual, broken, timer, tail, wake, workers, control, auditing
    case events, pace, done, cancelled, counters, journal, webhooks, queue, begun, turns
}

struct BoardKeys: Sendable {
    /// The beginning of every key. The braces put all keys in one hash slot.
    let prefix: String
    /// The key of the journal, outside the keys that workers may use.
    let journal: String
    /// The names of the whole board's keys, in the order in which calls declare them.
    let declared: [String]

    init(_ namespace: Namespace) {
        let prefix = "reel2:{\(namespace.name)}:"
        self.prefix = prefix
        journal = "reel2-journal:{\(namespace.name)}"
        declared = BoardKey.allCases.map { prefix + $0.rawValue }
    }

    subscript(key: BoardKey) -> String { prefix + key.rawValue }

    /// The key of a job's own hash, or of one of its parts.
    func job(_ id: JobID, _ part: String? = nil) -> String { "\(prefix)job:\(id)" + (part.map { ":\($0)" } ?? "") }
}
