internal import Foundation
import ReelWords

/// The value of `--listen`: a host and a port.
package struct Address: ExplainedArgument {
    /// What a user may write.
    package static let forms = "an address and a port (127.0.0.1:8080, [::1]:8080, 0.0.0.0:80)"
    /// A name or an address, one of IPv6 without its brackets.
    package let host: String
    /// 0 for any that is free.
    package let port: Int

    /// A host and a port from 0 to 65535.
    package init(host: String, port: Int) { (self.host, self.port) = (host, port) }

    /// Nil if the text is no host with a port.
    package init?(_ text: String) {
        guard let match = text.wholeMatch(of: /(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+):(\d{1,5})/),
            let port = Int(match.2), port <= 65535
        else { return nil }
        self.init(host: match.1.trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port: port)
    }

    /// Whether only this machine reaches it.
    package var isLoopback: Bool {
        host == "localhost" || host == "::1" || host.wholeMatch(of: /127\.\d{1,3}\.\d{1,3}\.\d{1,3}/) != nil
    }

    /// The start of the URL of what listens at a port of the host.
    package func url(port: Int) -> String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}
