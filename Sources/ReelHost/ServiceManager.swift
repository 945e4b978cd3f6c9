internal import Glibc

/// Tells the service manager that started this process about its state, in datagrams as sd_notify(3) describes them.
package struct ServiceManager: Sendable {
    package enum News: Sendable {
        /// The worker claims passes from now on.
        case ready
        case stopping
        /// The process is alive. A manager that watches it restarts it if this stops coming.
        case alive
        /// What the process is doing, in words for people.
        case status(String)

        var text: String {
            switch self {
            case .ready: "READY=1"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .status(let words): "STATUS=" + words
            }
        }
    }

    private let address: [UInt8]

    /// - Parameter address: the path of the manager's socket; an abstract name if it begins with "@".
    package init(address: String) {
        self.address = address.hasPrefix("@") ? [0] + address.utf8.dropFirst() : Array(address.utf8)
    }

    /// Sends the news once. If it is lost, the manager finds out by itself.
    package func tell(_ news: News) {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        guard !address.isEmpty, address.count < MemoryLayout.size(ofValue: name.sun_path) else { return }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: address) }
        let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard sender >= 0 else { return }
        defer { close(sender) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + address.count)
        let text = Array(news.text.utf8)
        withUnsafePointer(to: name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(sender, text, text.count, 0, $0, length)
            }
        }
    }
}
