internal import CBoardScripts
package import ReelCore

/// The functions that Redis holds for the board: one library, of one version. `FUNCTION LOAD` gets its text whole,
/// Redis keeps it in its append-only file, and each call names the version that the caller knows; see `docs/board.md`.
package enum Library {
    package static let name = "reel2"

    /// The version of this text. Raise it with each release that changes the text; a test compares the text with what
    /// it was at this version.
    package static let version = 10

    /// The least version of a caller that these functions serve. Raise it to `version` if arguments or replies change
    /// so that an earlier program and these functions would misread each other.
    static let serves = 1

    /// What Redis loads: the head of constants, then the files of `Scripts`.
    package static let text = head + String(cString: board_scripts())

    /// The constants that Swift and Lua share, each defined once. `.luacheckrc` lists their names, too.
    private static let head = """
        #!lua name=\(name)
        local VERSION, SERVES, SCHEMA = \(version), \(serves), '\(RedisBoard.schema)'
        local KEY_NAMES = { \(BoardKey.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")) }
        \(BoardPolicy.lua)

        """

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

extension RedisBoard {
    /// Calls a function that changes the board, by its name and arguments, and returns its reply. The Lua file of that
    /// name says what the arguments and the reply are. If Redis has no functions of the board, or older ones, these are loaded first.
    @discardableResult
    func transition(_ call: [String]) throws(ReelFailure) -> Reply {
        try self.call("FCALL", call[0], [Array(call.dropFirst())])[0].get()
    }

    /// Calls a function that changes nothing, and returns its reply. If Redis has no functions of the board, they are
    /// loaded first; older ones stay, and this throws `.boardUnprepared`.
    func look(_ function: String, _ arguments: [String]) throws(ReelFailure) -> Reply {
        try looks(function, [arguments])[0].get()
    }

    /// Calls a function that changes nothing several times in one exchange, and returns the reply to each call;
    /// otherwise like `look`.
    func looks(_ function: String, _ arguments: [[String]]) throws(ReelFailure) -> [Result<Reply, ReelFailure>] {
        try call("FCALL_RO", function, arguments)
    }

    /// Each call declares every key with a fixed name, so that Redis checks before the function runs that the user may
    /// use all of them and that they lie in one slot. Keys of jobs and workers are checked when the function uses them.
    private func call(
        _ command: String, _ function: String, _ arguments: [[String]]
    ) throws(ReelFailure) -> [Result<Reply, ReelFailure>] {
        let fixed =
            [command, "\(Library.name)_\(function)", String(BoardKey.allCases.count)] + keys.declared
            + [String(Library.version)]
        for _ in 0..<3 {
            let replies = try exchange(arguments.map { fixed + $0 })
            guard replies.contains(where: RedisBoard.isMismatch) else {
                return replies.map { reply in Result { () throws(ReelFailure) in try accept(reply) } }
            }
            try provide(replacing: command == "FCALL")
        }
        // Two releases take turns in loading theirs.
        throw ReelFailure(.boardUnprepared(found: try libraryVersion(), known: Library.version))
    }

    private static func isMismatch(_ reply: Reply) -> Bool {
        if case .error(let message) = reply { Library.Mismatch(message) != nil } else { false }
    }

    @discardableResult
    package func prepare() throws(ReelFailure) -> Bool {
        if let found = try libraryVersion(), found > Library.version {
            // Any call throws if they do not serve this program. No job has this id.
            _ = try look("status", ["-"])
            return false
        }
        return try provide(replacing: true)
    }

    /// Loads the functions if Redis has none, or if it has older ones and these may be replaced.
    ///
    /// - Parameter replacing: whether older functions are replaced. If not, older functions throw `.boardUnprepared`.
    /// - Returns: whether functions were loaded.
    @discardableResult
    func provide(replacing: Bool) throws(ReelFailure) -> Bool {
        let found = try libraryVersion()
        if found == Library.version { return false }
        if let found, found > Library.version {
            throw ReelFailure(.boardOfNewerRelease(found: found, known: Library.version))
        }
        let unprepared = ReelFailure(.boardUnprepared(found: found, known: Library.version))
        if found != nil, !replacing { throw unprepared }
        do throws(ReelFailure) {
            try send(["FUNCTION", "LOAD"] + (found == nil ? [] : ["REPLACE"]) + [Library.text])
        } catch {
            guard case .redisRefused(_, let said, _) = error.reason else { throw error }
            if said.hasPrefix("NOPERM") { throw unprepared }
            // Another program has loaded them meanwhile.
            if said.contains("already exists") { return false }
            throw error
        }
        return true
    }

    /// The version of the functions that Redis has; nil if it has none.
    func libraryVersion() throws(ReelFailure) -> Int? {
        do throws(ReelFailure) {
            return try send(["FCALL_RO", "\(Library.name)_version", "0"]).count()
        } catch {
            guard case .redisRefused(_, let said, _) = error.reason,
                Library.Mismatch(said) == .unknownFunction
            else { throw error }
            return nil
        }
    }
}
