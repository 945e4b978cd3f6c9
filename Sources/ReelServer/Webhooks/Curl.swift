package import Foundation
package import ReelCore
internal import ReelHost
internal import Subprocess
internal import SystemPackage

/// Sends a body with the program curl. The arguments of its process do not contain URL or signature, which may be
/// secret.
package struct Curl: Sendable {
    private let program: String?

    /// - Parameter program: path of curl; nil if it is not installed.
    package init(program: String? = Programs.installed("curl")) { self.program = program }

    package enum Reply: Hashable, Sendable {
        case status(Int)
        /// The receiver did not reply; quotes curl.
        case none(said: String)
    }

    /// A message for a receiver at addresses that are known to be allowed.
    package struct Message {
        package var url: WebhookURL
        /// The only addresses at which curl looks for the URL's host; at least one.
        var addresses: [IPAddress]
        /// Names and values of fields, in ASCII without quotes, backslashes and line breaks.
        var fields: [(name: String, value: String)]
        var body: Data
        /// The seconds that all of it may take.
        var limit: Int

        package init(
            url: WebhookURL, addresses: [IPAddress], fields: [(name: String, value: String)], body: Data, limit: Int
        ) {
            (self.url, self.addresses, self.fields, self.body, self.limit) = (url, addresses, fields, body, limit)
        }
    }

    /// Sends a message, and discards the receiver's reply except for its status. Curl does not follow redirections or
    /// use a proxy.
    ///
    /// Throws `.curlNotInstalled`.
    package func post(_ message: Message) async throws(ReelFailure) -> Reply {
        guard let program else { throw ReelFailure(.curlNotInstalled) }
        let input = Array("\(Curl.configuration(of: message))\n".utf8) + message.body
        do {
            let ended = try await Subprocess.run(
                .path("/bin/sh"), arguments: ["-c", Curl.script, program], environment: .custom(Curl.environment),
                input: .array(input), output: .string(limit: 1 << 10), error: .string(limit: 1 << 16))
            let status = Int(ended.standardOutput.suffix(3)) ?? 0
            // Curl explains some errors in further lines.
            let lines = ended.standardError.split(separator: "\n")
            let said = (lines.first { $0.hasPrefix("curl: (") } ?? lines.last).map(String.init)
            return status > 0 ? .status(status) : .none(said: said ?? "curl ended: \(ended.terminationStatus)")
        } catch {
            return .none(said: "\(error)")
        }
    }

    /// Gives curl the lines before the first empty line as its configuration, and the rest as its standard input. The
    /// shell reads byte by byte, so it does not consume any byte of the body.
    private static let script = """
        lines=
        while IFS= read -r line && [ -n "$line" ]; do lines="$lines$line
        "; done
        exec "$0" --disable --config /dev/fd/3 3<<END
        $lines
        END
        """

    /// From this process's environment, only the places of the certificates of authorities.
    private static var environment: [Environment.Key: String] {
        ProcessInfo.processInfo.environment.reduce(into: [:]) { kept, variable in
            guard ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"].contains(variable.key) else { return }
            kept[Environment.Key(stringLiteral: variable.key)] = variable.value
        }
    }

    package static func configuration(of message: Message) -> String {
        var lines = [
            "url = \"\(message.url.text)\"", "proto = \"=\(message.url.scheme)\"", "noproxy = \"*\"", "globoff",
            "path-as-is", "connect-timeout = 10", "max-time = \(message.limit)", "max-filesize = 1048576", "silent",
            "show-error", "output = \"/dev/null\"", "write-out = \"%{http_code}\"", "data-binary = \"@-\"",
            // Without waiting for the receiver's consent.
            "header = \"Expect:\"",
        ]
        if case .name(let name) = message.url.host {
            let addresses = message.addresses.map { $0.bytes.count == 4 ? "\($0)" : "[\($0)]" }
            lines.append("resolve = \"\(name):\(message.url.port):\(addresses.joined(separator: ","))\"")
        }
        lines += message.fields.map { "header = \"\($0.name): \($0.value)\"" }
        return lines.joined(separator: "\n") + "\n"
    }
}
