package import Foundation
package import ReelCore
internal import ReelHost
internal import Subprocess
internal import SystemPackage

/// Sends a body by the program curl. Its process's arguments name neither URL nor signature, which may be secret.
package struct Curl: Sendable {
    private let program: String?

    /// - Parameter program: path of curl; nil if it is not installed.
    package init(program: String? = Programs.installed("curl")) { self.program = program }

    /// What a receiver answered.
    package enum Answer: Hashable, Sendable {
        /// With a status of HTTP.
        case status(Int)
        /// It did not; quotes curl.
        case none(said: String)
    }

    /// A message for a receiver at addresses that are known to be allowed.
    package struct Message {
        package var url: WebhookURL
        /// Where the URL's host is looked for, and nowhere else; at least one.
        var addresses: [IPAddress]
        /// Names and values of fields, in ASCII without quotes, backslashes and line breaks.
        var fields: [(name: String, value: String)]
        var body: Data
        /// Seconds that all of it may take.
        var limit: Int

        package init(
            url: WebhookURL, addresses: [IPAddress], fields: [(name: String, value: String)], body: Data, limit: Int
        ) {
            self.url = url
            self.addresses = addresses
            self.fields = fields
            self.body = body
            self.limit = limit
        }
    }

    /// Sends a message, and throws away what the receiver answers besides the status. Redirections are not followed, and no
    /// proxy is used.
    ///
    /// Throws `.curlNotInstalled`.
    package func post(_ message: Message) async throws(ReelFailure) -> Answer {
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

    /// Gives curl the lines up to the first empty one as its configuration, and what follows as its standard input. The shell
    /// reads byte by byte, so that it takes nothing of the body.
    private static let script = """
        lines=
        while IFS= read -r line && [ -n "$line" ]; do lines="$lines$line
        "; done
        exec "$0" --disable --config /dev/fd/3 3<<END
        $lines
        END
        """

    /// Nothing of this process's own but where the certificates of authorities lie.
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
