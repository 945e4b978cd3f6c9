internal import ReelCore
package import ReelQueue

// What servers tell others of the ends of jobs.
extension BoardModel {
    /// A webhook of a job. Webhooks that became due at the same moment are sent in the order of their names.
    package struct Hook: Hashable, Comparable {
        package var job: String
        package var url: String

        package static func < (one: Hook, other: Hook) -> Bool { (one.job, one.url) < (other.job, other.url) }
    }

    package struct Webhook {
        /// Since when it is to be sent; nil if it is not.
        package var since: Int?
        package var attempts = 0
    }

    package mutating func hook(_ id: String, _ url: String) -> HookAnswer? {
        guard let job = jobs[id] else { return nil }
        guard job.webhooks[url] != nil || job.webhooks.count < BoardPolicy.webhooksKept else { return .full }
        guard job.state.isTerminal else {
            if job.webhooks[url] == nil { jobs[id]?.webhooks[url] = Webhook() }
            return .added
        }
        if due[Hook(job: id, url: url)] == nil { makeDue(id, url) }
        return .due
    }

    package mutating func dispatch() -> DueWebhook? {
        while let (hook, _) = due.filter({ $0.value <= now }).min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            guard let job = jobs[hook.job], job.state.isTerminal, let webhook = job.webhooks[hook.url],
                let since = webhook.since
            else {
                due[hook] = nil
                continue
            }
            due[hook] = now + BoardModel.lease
            jobs[hook.job]?.webhooks[hook.url]?.attempts += 1
            return DueWebhook(
                job: JobID(hook.job), url: hook.url, since: Int64(since), attempt: webhook.attempts + 1,
                till: Int64(now + BoardModel.lease))
        }
        return nil
    }

    package mutating func dispatched(_ sent: DueWebhook, _ outcome: DueWebhook.Outcome) -> DueWebhook.Answer {
        let hook = Hook(job: sent.job.text, url: sent.url)
        guard let since = jobs[hook.job]?.webhooks[hook.url]?.since, Int64(since) == sent.since,
            let score = due[hook], outcome == .sent || Int64(score) == sent.till
        else { return .stale }
        if outcome == .failed {
            due[hook] = now + BoardModel.lease
            count("webhooks:retried")
            return .again(after: .zero)
        }
        due[hook] = nil
        jobs[hook.job]?.webhooks[hook.url] = Webhook()
        count(outcome == .sent ? "webhooks:sent" : "webhooks:given-up")
        return outcome == .sent ? .sent : .givenUp
    }

    /// Time has passed: all that are to be sent are due, and leases on them have lapsed.
    package mutating func fallDueToSend() {
        for hook in due.keys { due[hook] = BoardModel.longSince }
    }

    mutating func makeDue(_ id: String, _ url: String) {
        jobs[id]?.webhooks[url] = Webhook(since: now)
        due[Hook(job: id, url: url)] = now
    }

    mutating func withholdWebhooks(_ id: String) {
        for url in jobs[id]?.webhooks.keys ?? [:].keys { due[Hook(job: id, url: url)] = nil }
    }
}

extension DueWebhook.Answer {
    /// Without what depends on the clock.
    package var timeless: DueWebhook.Answer { if case .again = self { .again(after: .zero) } else { self } }
}
