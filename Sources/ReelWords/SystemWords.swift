internal import Glibc
internal import ReelCore

/// Words for the operating system's numbers.
enum SystemWords {
    static func text(_ errno: Int32) -> String { String(cString: strerror(errno)) }

    /// "pid 4711 on HOST", as far as known.
    static func process(_ pid: Int?, _ host: String?) -> String {
        guard let pid, let host else { return "another process" }
        return "pid \(pid) on \(host)"
    }
}

extension StoreStep {
    /// The operation that failed; a path follows.
    var words: String {
        switch self {
        case .open: "write in the store"
        case .makeFolder: "make a folder at"
        case .read: "read"
        case .write: "write"
        case .lock: "lock"
        case .copySource: "copy the source to"
        case .remove: "remove"
        }
    }
}
