internal import ReelCore

extension Command {
    /// Gives out the webhook that has been due longest, for a lease; nil if none is due.
    struct Dispatch: BoardCommand {
        static let name = "dispatch"
        static let source = PackageResources.dispatch_lua

        func arguments(_ timing: BoardTiming) -> [String] { [String(timing.webhookLease.milliseconds)] }

        func answer(_ reply: Reply) throws(ReelFailure) -> DueWebhook? {
            guard reply != .none else { return nil }
            var parts = try ReplyReader(reply)
            let (job, url, since) = (JobID(try parts.text()), try parts.text(), try parts.text())
            let (attempt, till) = (try parts.integer(), try parts.text())
            try parts.end()
            guard let since = Int64(since), let till = Int64(till) else { throw reply.surprise }
            return DueWebhook(job: job, url: url, since: since, attempt: attempt, till: till)
        }
    }
}
