package import Foundation
internal import Logging
package import ReelCore
internal import ReelHost
internal import ReelJobs
internal import ReelQueue
package import ReelRemote
internal import ReelStore
internal import ReelWords
internal import ServiceLifecycle
internal import Subprocess
internal import Synchronization
internal import SystemPackage

/// Sends a webhook at the end of each job that has one. Servers of one board share the work.
final class WebhookSender: Service {
    private let jobs: JobService
    private let policy: WebhookPolicy
    private let access: StoreAccess
    private let log: Logger
    private let sending = Mutex(0)
    /// The code of the failure of the last call to the board; nil if it succeeded.
    private let trouble = Mutex<String?>(nil)

    /// The most that are sent at once, so that a few receivers that do not answer do not delay the others.
    private static let mostAtOnce = 16
    /// Seconds for one webhook, including the lookup of the host; less than the board's lease.
    private static let limit = 50
    /// The part of them in which the receiver must answer.
    private static let answerLimit = 30

    init(_ jobs: JobService, _ policy: WebhookPolicy, access: StoreAccess, log: Logger) {
        (self.jobs, self.policy, self.access, self.log) = (jobs, policy, access, log)
    }

    /// Asks the board for a due webhook once a second, and again at once after each one. A shutdown waits for the
    /// webhooks that are being sent.
    func run() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                guard sending.withLock({ $0 < WebhookSender.mostAtOnce }), let due = await next() else {
                    await cancelWhenGracefulShutdown { try? await Task.sleep(for: .seconds(1)) }
                    continue
                }
                sending.withLock { $0 += 1 }
                group.addTask { [self] in
                    await send(due)
                    sending.withLock { $0 -= 1 }
                }
            }
        }
    }

    private func next() async -> DueWebhook? {
        do throws(ReelFailure) {
            let due = try await jobs.dueWebhook()
            trouble.withLock { $0 = nil }
            return due
        } catch {
            // One line for all calls that fail alike.
            let isNew = trouble.withLock { known in
                defer { known = error.reason.code }
                return known != error.reason.code
            }
            if isNew { note(error) }
            return nil
        }
    }

    /// Makes one attempt. If this server ends meanwhile, or Redis or the store cannot be reached, another attempt
    /// follows when the lease has lapsed.
    private func send(_ due: DueWebhook) async {
        let view: JobView
        do {
            let isLarge = try await access.use { [jobs] in await jobs.isLarge(due.job) }
            view = try await access.use(isLarge: isLarge) { [jobs] in try await jobs.view(due.job) }
        } catch {
            let problem = Problem(of: error)
            log.error("\(problem.detail)", metadata: ["code": "\(problem.code)"])
            return
        }
        // A job that runs again will end again.
        guard view.state.isTerminal else { return }
        do throws(ReelFailure) {
            let (outcome, said) = try await attempt(due, view)
            let answer = try await jobs.settle(due, outcome)
            report(due, answer, said)
        } catch {
            note(error)
            guard case .curlNotInstalled = error.reason else { return }
            _ = try? await jobs.settle(due, .failed)
        }
    }

    private func attempt(
        _ due: DueWebhook, _ view: JobView
    ) async throws(ReelFailure) -> (outcome: DueWebhook.Outcome, said: String) {
        guard let url = try? WebURL(due.url), let body = try? JSONAnswer.bytes(view) else {
            return (.refused, "this release cannot send to its URL")
        }
        let start = ContinuousClock.now
        let found =
            switch url.host {
            case .name(let name): await Resolver.addresses(of: name)
            case .address(let address): [address]
            }
        guard !found.isEmpty else { return (.failed, "no address of its host is known") }
        let addresses = found.filter { policy.admits($0, of: url.host) }
        guard !addresses.isEmpty else {
            return (.failed, "its host has only private addresses, and no --webhook-allow names one")
        }
        let left = WebhookSender.limit - Int((ContinuousClock.now - start).components.seconds)
        guard left > 0 else { return (.failed, "looking for its host took too long") }
        let message = Curl.Message(
            url: url, addresses: addresses, fields: fields(due, view, body), body: body,
            limit: min(left, WebhookSender.answerLimit))
        switch try await Curl().post(message) {
        case .status(200..<300): return (.sent, "")
        case .status(410): return (.refused, "its receiver answers 410")
        case .status(let status): return (.failed, "its receiver answers \(status)")
        case .none(let said): return (.failed, said)
        }
    }

    private func fields(_ due: DueWebhook, _ view: JobView, _ body: Data) -> [(name: String, value: String)] {
        let id = Fingerprint.sha256Hex(Array("\(due.job) \(due.url) \(due.since)".utf8)).prefix(32)
        let now = Int(Date().timeIntervalSince1970)
        return [
            ("Content-Type", "application/json"), ("User-Agent", "reel/\(Release.version)"),
            ("Reel-Event", "job.\(view.state.rawValue)"), ("Reel-Delivery", String(id)),
            ("Reel-Signature", policy.secret.signature(of: body, at: now)),
        ]
    }

    // MARK: The log

    /// A line for the first attempt that failed, and one if it is given up.
    private func report(_ due: DueWebhook, _ answer: DueWebhook.Answer, _ said: String) {
        let name = "the webhook of job \(due.job) at \((try? WebURL(due.url))?.origin ?? "an unusable URL")"
        switch answer {
        case .sent, .stale: log.debug("\(name): \(answer)")
        case .again(let pause):
            log.log(
                level: due.attempt == 1 ? .warning : .debug,
                "\(name) cannot be sent: \(said); attempt \(due.attempt), again in \(pause.components.seconds) s")
        case .givenUp: log.error("\(name) is given up after \(due.attempt) attempts: \(said)")
        }
    }

    private func note(_ failure: ReelFailure) {
        log.error("\(failure.words)", metadata: ["code": "\(failure.reason.code)"])
    }
}

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
        package var url: WebURL
        /// The only addresses at which curl looks for the URL's host; at least one.
        var addresses: [IPAddress]
        /// Names and values of fields, in ASCII without quotes, backslashes and line breaks.
        var fields: [(name: String, value: String)]
        var body: Data
        /// The seconds that all of it may take.
        var limit: Int

        package init(
            url: WebURL, addresses: [IPAddress], fields: [(name: String, value: String)], body: Data, limit: Int
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
