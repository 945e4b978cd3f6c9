internal import Glibc
internal import HummingbirdCore
internal import Logging

/// The most connections that a program holds. Further callers wait in the system's queue until one ends. Without this the system
/// would refuse each of them again and again when no more files may be open, and the program would ask for the next one without
/// a pause.
struct ConnectionLimit: AvailableConnectionsDelegate {
    private let most: Int
    private let log: Logger
    private var open = 0

    init(_ most: Int, log: Logger) {
        self.most = most
        self.log = log
    }

    /// As many as the limit of this process for open files allows, less a reserve for its own files.
    static var ofFiles: Int {
        var limit = rlimit()
        let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        let files = isKnown ? Int(clamping: limit.rlim_cur) : 1024
        return max(files - min(256, files / 4), 1)
    }

    mutating func connectionOpened() {
        open += 1
        guard open == most else { return }
        log.warning("holds \(most) connections, the most that it may; further callers wait")
    }

    mutating func connectionClosed() { open -= 1 }

    func isAcceptingNewConnections() -> Bool { open < most }
}
