package import ReelCore
package import ReelQueue

// Workers' signs of life, and what follows where they stay away.
extension BoardModel {
    package mutating func beat(_ report: WorkerReport) -> BeatReply {
        let name = report.worker.text
        workers[name] = Worker(report: report, isDrained: workers[name]?.isDrained ?? false)
        var answers: [String: LeaseAnswer] = [:]
        for held in report.held { answers[held.token] = answer(held, worker: name) }
        return (answers, drained(name))
    }

    private mutating func answer(_ held: WorkerReport.Held, worker: String) -> LeaseAnswer {
        let (id, index) = (held.job.text, held.index)
        guard let job = jobs[id] else { return .lost }
        if index < 0, job.state.isTerminal {
            drop(id, index, held.token)
            return .cancel
        }
        guard job.published.plan == held.plan else { return .lost }
        let condition = job[index]
        if case .done(let recorded) = condition { return recorded.token == held.token ? .ok : .lost }
        if job.state.isTerminal {
            drop(id, index, held.token)
            return .cancel
        }
        guard job.isOpen(index) else { return .lost }
        func progressed(_ holder: Holder) -> Holder {
            var holder = holder
            (holder.decoded, holder.encoded, holder.worker) = (held.decoded, held.encoded, worker)
            return holder
        }
        func further(than before: Int) { work.frames += max(held.encoded - before, 0) }
        switch condition {
        case .held(let holder, let copy) where holder.token == held.token:
            hold(id, index, .held(progressed(holder), copy: copy), token: held.token)
            further(than: holder.encoded)
        case .held(let holder, let copy?) where copy.token == held.token:
            hold(id, index, .held(holder, copy: progressed(copy)), token: held.token)
            further(than: copy.encoded)
        case .held: return .lost
        default:
            let passCount = job.published.passCount
            guard job.returned[index] != held.token,
                index < passCount || index == passCount && job.finished == passCount
            else { return .lost }
            let holder = progressed(Holder(token: held.token, worker: worker))
            hold(id, index, .held(holder, copy: nil), token: held.token)
            further(than: 0)
        }
        if let failures = job.failures[index], held.wholeChunks > failures.wholeChunks {
            jobs[id]?.failures[index]?.wholeChunks = held.wholeChunks
            jobs[id]?.failures[index]?.attempts["lost"] = nil
        }
        return .ok
    }

    /// How many passes were requeued. Nothing happens for one lease after a start of Redis.
    package mutating func reap(sinceStartOfRedis: Bool) -> Int {
        if sinceStartOfRedis { return 0 }
        var requeued = 0
        let lapsed = leases.filter { $0.lapsed != nil }.sorted { ($0.lapsed ?? 0) < ($1.lapsed ?? 0) }
        count("leases:lost", lapsed.count)
        for lease in lapsed {
            let (id, index, token) = (lease.holding.job, lease.holding.index, lease.holding.token)
            guard let job = jobs[id], job.isOpen(index), holds(token, index, of: job),
                case .held(let holder, let copy) = job[index]
            else {
                drop(id, index, token)
                continue
            }
            let worker = holder.token == token ? holder.worker : copy?.worker ?? ""
            let count = charge(
                id, index, ReelFailure(.workerVanished(worker: worker)), .lost, worker: worker, token: token)
            self.count(.lost)
            if !isLast(count, .lost) {
                if requeue(id, index, token, due: now) { requeued += 1 }
            } else {
                fail(id, ReelFailure(.passLost(pass: index, attempts: count, worker: worker)), exhausted: index)
                drop(id, index, token)
            }
        }
        workers = workers.filter { !$0.value.isSilent }
        return requeued
    }

    package mutating func drain(_ scope: DrainScope, _ name: String) -> Bool {
        switch scope {
        case .host: drainedHosts.insert(name)
        case .worker:
            guard workers[name] != nil else { return false }
            workers[name]?.isDrained = true
        }
        return true
    }

    package mutating func undrain(_ scope: DrainScope, _ name: String) -> Bool {
        switch scope {
        case .host: return drainedHosts.remove(name) != nil
        case .worker:
            defer { workers[name]?.isDrained = false }
            return workers[name]?.isDrained ?? false
        }
    }

    /// What of a worker is drained; a worker that has not beaten is on a host of its own name.
    package func drained(_ worker: String) -> DrainScope? {
        if workers[worker]?.isDrained == true { return .worker }
        return drainedHosts.contains(host(of: worker)) ? .host : nil
    }

    package mutating func depart(_ worker: String) { workers[worker] = nil }

    /// The store that the board belongs to; one that belongs to none takes this one.
    package mutating func adopt(_ id: StoreID?) -> StoreID? {
        if store == nil { store = id }
        return store
    }

    /// On a board that nothing befell an audit finds nothing.
    package mutating func audit() -> Audit {
        for id in jobs.keys { settle(id) }
        return Audit(jobs: jobs.values.count { !$0.state.isTerminal }, repairs: 0)
    }
}

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
