internal import Glibc
internal import ReelCore

/// Failures of the operating system: an `errno` with the path of the operation.
enum SystemError {
    /// The failure of an operation on the store: exit 4; a full disk stops the host, anything else excludes it.
    static func store(_ doing: StoreStep, _ path: String, _ code: CInt) -> ReelFailure {
        if code == SystemCode.notRegular.value { return ReelFailure(.storeFileForeign(path: path)) }
        return ReelFailure(
            isFull(code)
                ? .storeFull(doing: doing, path: path, errno: code)
                : .storeUnusable(doing: doing, path: path, errno: code))
    }

    /// The failure of an operation on the place of a delivered result: exit 5.
    static func output(_ path: String, _ code: CInt, needed: Int64? = nil) -> ReelFailure {
        ReelFailure(
            isFull(code)
                ? .outputFull(path: path, needed: needed, free: FileCopy.room(beside: path))
                : .outputUnwritable(path: path, errno: code))
    }

    /// A quota that is used up is a full disk, too.
    private static func isFull(_ code: CInt) -> Bool { code == ENOSPC || code == EDQUOT }
}
