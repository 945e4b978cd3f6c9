internal import Glibc
internal import ReelCore

/// What the operating system's numbers mean.
enum SystemWords {
    static func text(_ errno: Int32) -> String { String(cString: strerror(errno)) }

    /// "pid 4711 on HOST", as far as it is known.
    static func process(_ pid: Int?, _ host: String?) -> String {
        guard let pid, let host else { return "another process" }
        return "pid \(pid) on \(host)"
    }
}

extension StoreStep {
    /// What cannot be done: followed by a path.
    var words: String {
        switch self {
        case .open: "write in the store"
        case .makeFolder: "make a folder at"
        case .read: "read"
        case .write: "write"
        case .lock: "lock"
        case .moveSegments: "move segments to"
        case .copySource: "copy the source to"
        case .remove: "remove"
        }
    }
}
