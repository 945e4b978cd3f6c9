internal import ReelCore

/// The functions that Redis holds for the board: one library, of one version. `FUNCTION LOAD` gets its text whole,
/// Redis keeps it in its append-only file, and each call names the version that the caller knows; see `docs/board.md`.
package enum Library {
    package static let name = "reel2"

    /// The version of this text. Raise it with each release that changes the text; a test compares the text with what
    /// it was at this version.
    package static let version = 7

    /// The least version of a caller that these functions serve. Raise it to `version` if arguments or replies change
    /// so that an earlier program and these functions would misread each other.
    static let serves = 1

    /// What Redis loads: the head of constants, `board.lua`, then the transitions in the order of their names.
    package static let text: String = {
        let files = [PackageResources.board_lua] + Command.all.map { $0.source }
        return head + files.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }()

    /// The constants that Swift and Lua share, each defined once. `.luacheckrc` lists their names, too.
    private static let head = """
        #!lua name=\(name)
        local VERSION, SERVES, SCHEMA = \(version), \(serves), '\(RedisBoard.schema)'
        local KEY_NAMES = { \(BoardKey.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")) }
        \(BoardPolicy.lua)

        """

    /// A call of a function. It declares every key with a fixed name, so that Redis checks before the function runs
    /// that the user may use all of them and that they lie in one slot. Keys of jobs and workers are checked when the
    /// function uses them.
    static func call<Called: BoardCommand>(
        _ command: Called, _ keys: BoardKeys, _ timing: BoardTiming
    ) throws(ReelFailure) -> [String] {
        [Called.isReadOnly ? "FCALL_RO" : "FCALL", Called.function, String(BoardKey.allCases.count)]
            + keys.declared + [String(version)] + (try command.arguments(timing))
    }

    /// An answer of Redis that says that its functions are not the ones that the caller knows.
    enum Mismatch: Equatable {
        /// There is no such function. There may be a library, of another version.
        case unknownFunction
        /// The library is of this version, which does not serve the caller.
        case version(Int)

        init?(_ message: String) {
            if message.hasPrefix("REELLIBRARY "), let found = Int(message.dropFirst("REELLIBRARY ".count)) {
                self = .version(found)
            } else if message.hasPrefix("ERR Function not found") {
                self = .unknownFunction
            } else {
                return nil
            }
        }
    }
}
