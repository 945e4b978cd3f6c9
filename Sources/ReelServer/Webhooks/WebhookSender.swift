internal import Foundation
internal import Logging
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelWords
internal import ServiceLifecycle
internal import Synchronization

/// Sends a webhook at the end of each job that has one. Servers of one board share the work.
final class WebhookSender: Service {
    private let jobs: JobService
    private let policy: WebhookPolicy
    private let access: StoreAccess
    private let log: Logger
    /// How many webhooks are being sent.
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
        guard let url = try? WebhookURL(due.url), let body = try? JSONAnswer.bytes(view) else {
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
        let name = "the webhook of job \(due.job) at \((try? WebhookURL(due.url))?.origin ?? "an unusable URL")"
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
