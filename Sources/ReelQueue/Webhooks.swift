package import ReelCore

/// The outcome of adding a webhook to a job.
package enum HookAnswer: String, Hashable, Sendable {
    /// It is sent when the job ends; also if the job had it already.
    case added
    /// The job has ended, so it is sent at once.
    case due
    /// The job has as many others as it can have.
    case full
}

/// A webhook that a server is to send, under a lease.
package struct DueWebhook: Hashable, Sendable {
    package var job: JobID
    package var url: String
    /// Since when it is to be sent, in milliseconds since 1970 by the board's clock: the same for each attempt.
    package var since: Int64
    /// The number of this attempt, from 1.
    package var attempt: Int
    /// When the lease lapses, in milliseconds since 1970 by the board's clock.
    package var till: Int64

    package init(job: JobID, url: String, since: Int64, attempt: Int, till: Int64) {
        self.job = job
        self.url = url
        self.since = since
        self.attempt = attempt
        self.till = till
    }

    /// How an attempt to send it ended.
    package enum Outcome: String, Hashable, Sendable {
        /// Its receiver has it.
        case sent
        /// Another attempt may succeed.
        case failed
        /// Its receiver wants to hear no more of this.
        case refused
    }

    /// What follows from an attempt.
    package enum Answer: Hashable, Sendable {
        /// It is not sent again.
        case sent
        /// It has failed, and is due again after that time.
        case again(after: Duration)
        /// It has failed, and is not sent again.
        case givenUp
        /// It is in the hands of another server, or not to be sent any more: nothing has changed.
        case stale
    }
}

extension RedisBoard {
    package func hook(_ job: JobID, _ url: String) throws(ReelFailure) -> HookAnswer? {
        try transition(["hook", job.text, url]).present?.value()
    }

    package func dispatch() throws(ReelFailure) -> DueWebhook? {
        let reply = try transition(["dispatch", String(timing.webhookLease.milliseconds)])
        if reply == .none { return nil }
        var parts = try ReplyReader(reply)
        let (job, url, since) = (JobID(try parts.text()), try parts.text(), try parts.text())
        let (attempt, till) = (try parts.integer(), try parts.text())
        try parts.end()
        guard let since = Int64(since), let till = Int64(till) else { throw reply.surprise }
        return DueWebhook(job: job, url: url, since: since, attempt: attempt, till: till)
    }

    @discardableResult
    package func dispatched(
        _ webhook: DueWebhook, _ outcome: DueWebhook.Outcome
    ) throws(ReelFailure) -> DueWebhook.Answer {
        let reply = try transition([
            "dispatched", webhook.job.text, webhook.url, String(webhook.since), String(webhook.till),
            outcome.rawValue, String(timing.webhookPause.milliseconds),
        ])
        if let pause = reply.integer { return .again(after: .milliseconds(pause)) }
        return switch try reply.text() {
        case "sent": .sent
        case "given-up": .givenUp
        case "stale": .stale
        default: throw reply.surprise
        }
    }
}
