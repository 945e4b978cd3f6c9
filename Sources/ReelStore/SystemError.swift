internal import Glibc
internal import ReelCore

/// What the operating system said: the text of an `errno`, put into a failure with the path it is about.
enum SystemError {
    /// The failure of an operation on the store: exit 4; a full disk stops the host, anything else excludes it.
    static func store(_ what: String, _ path: String, _ code: CInt) -> ReelFailure {
        ReelFailure(
            .unreachable, "cannot \(what) \(path): \(text(code))", cause: isFull(code) ? .noSpace : .incompatible)
    }

    /// The failure of an operation on the place where a result is to go: exit 5.
    static func output(_ what: String, _ path: String, _ code: CInt) -> ReelFailure {
        ReelFailure(.output, "cannot \(what) \(path): \(text(code))", cause: isFull(code) ? .noSpace : .permanent)
    }

    static func text(_ code: CInt) -> String { String(cString: strerror(code)) }

    /// A quota that is used up is a full disk, too.
    static func isFull(_ code: CInt) -> Bool { code == ENOSPC || code == EDQUOT }
}
