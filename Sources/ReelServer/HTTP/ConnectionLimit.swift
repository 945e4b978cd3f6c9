internal import Glibc
internal import HummingbirdCore
internal import Logging

/// The most connections that a server holds: as many as its limit of open files allows, less a reserve for its own files. Further
/// callers wait in the system's queue until one ends. Without this the system would refuse each of them again and again, and the
/// server would ask for the next one without a pause.
struct ConnectionLimit: AvailableConnectionsDelegate {
    private let most: Int
    private let log: Logger
    private var open = 0

    /// - Parameter files: how many files the process may have open.
    init(files: Int, log: Logger) {
        most = max(files - min(256, files / 4), 1)
        self.log = log
    }

    /// The limit of this process.
    init(log: Logger) {
        var limit = rlimit()
        let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        self.init(files: isKnown ? Int(clamping: limit.rlim_cur) : 1024, log: log)
    }

    mutating func connectionOpened() {
        open += 1
        guard open == most else { return }
        log.warning("holds \(most) connections, as many as its limit of open files allows; further callers wait")
    }

    mutating func connectionClosed() { open -= 1 }

    func isAcceptingNewConnections() -> Bool { open < most }
}
