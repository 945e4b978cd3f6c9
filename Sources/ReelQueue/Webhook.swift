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
    /// The job that has ended.
    package var job: JobID
    /// The URL that hears of it.
    package var url: String
    /// Since when it is to be sent, in milliseconds since 1970 by the board's clock: the same for each attempt.
    package var since: Int64
    /// The number of this attempt, from 1.
    package var attempt: Int
    /// When the lease lapses, in milliseconds since 1970 by the board's clock.
    package var till: Int64

    /// A webhook of known parts.
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
    /// Adds a webhook to a job: it is sent whenever the job ends, or at once if it has ended. Nil if there is no such job.
    package func hook(_ job: JobID, _ url: String) throws(ReelFailure) -> HookAnswer? {
        try call(Command.Hook(job: job, url: url))
    }

    /// Leases the webhook that has been due longest to the caller, which sends it; nil if none is due.
    package func dispatch() throws(ReelFailure) -> DueWebhook? { try call(Command.Dispatch()) }

    /// Records how an attempt to send a webhook ended.
    @discardableResult
    package func dispatched(
        _ webhook: DueWebhook, _ outcome: DueWebhook.Outcome
    ) throws(ReelFailure) -> DueWebhook.Answer {
        try call(Command.Dispatched(webhook: webhook, outcome: outcome))
    }
}
