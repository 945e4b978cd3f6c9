import ReelBoardModel
import ReelCore
import ReelQueue
import ReelTestSupport

// Redis applies a script's writes also where its log ends within them.
extension Conformance {
    /// Carries an operation out, cuts its writes at a random place, and works everything to its end, with an audit
    /// before that or without: every prefix is to be safe by itself. What is there before is kept in another database,
    /// and is there again after it. Gives what went wrong.
    mutating func tear() async throws -> [String] {
        try copyKeys(from: 0, to: 1)
        var torn = self
        let start = try server.logLength()
        let operation = torn.source.next(
            model, claims: claims, dueWebhooks: dueWebhooks.count, restarts: false)
        try await torn.perform(operation)
        let writes = try server.log(after: start)
        source = torn.source
        guard writes.count > 1 else {
            try copyKeys(from: 1, to: 0)
            return []
        }
        let cut = 1 + source.below(writes.count - 1)
        try copyKeys(from: 1, to: 0)
        for write in writes.prefix(cut) { try raw.send(write) }
        var found = try wrongTotals()
        let audits = source.chance(50)
        if audits {
            _ = try await board.audit()
            found += try await wrongCounters()
        }
        found += try await bringToAnEnd(operation)
        try copyKeys(from: 1, to: 0)
        return found.isEmpty
            ? [] : ["torn after \(cut) of \(writes.count) writes of \(operation)\(audits ? ", audited" : "")"] + found
    }

    private func copyKeys(from: Int, to: Int) throws {
        try raw("SELECT", String(to))
        try raw("FLUSHDB")
        try raw("SELECT", String(from))
        let script = "for _, k in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', k, k, 'DB', ARGV[1]) end"
        try raw("EVAL", script, "0", String(to))
        try raw("SELECT", "0")
    }

    /// Does the work of publishers, users and workers until every job is done; returns the faults that are left.
    private func bringToAnEnd(_ operation: Operation) async throws -> [String] {
        if case .put(let job, _, _) = operation { try await putAgain(job.id) }
        var recorded: Set<BoardModel.Holding> = []
        var found: [String] = []
        for round in 0..<12 {
            for id in OperationSource.ids {
                guard let status = try await board.status(JobID(id)) else { continue }
                // A cancelled job is made anew, so that this can do all of its passes.
                if status.state == .cancelled { try await putAgain(status.job.id) }
                if try await board.retry(JobID(id)) == nil { try await putAgain(status.job.id) }
                if status.isPaused { _ = try await board.resume(JobID(id)) }
            }
            for protocolVersion in 1...2 {
                let offer = BoardFixture.offer("last\(round)", memory: 10_000, protocolVersion: protocolVersion)
                while let claim = try await board.claim(offer) {
                    if claim.work == .planning {
                        try await publish(claim)
                        continue
                    }
                    if claim.work == .assembly, try await board.status(claim.job)?.state == .running {
                        // Begun early: the holders of the other passes may be dead, so that it would wait for ever.
                        try await board.release(claim)
                        continue
                    }
                    let result = Conformance.result(of: claim)
                    let answer = try await board.complete(claim, worker: offer.worker, result: result)
                    let pass = BoardModel.Holding(job: claim.job.text, index: claim.index, token: "")
                    if answer != .ok { found.append("\(pass): \(answer)") }
                    if !recorded.insert(pass).inserted { found.append("\(pass): given out after it was done") }
                }
            }
            for name in try raw("ZRANGE", "reel2:{main}:lease", "0", "-1").split(separator: "\n") {
                try raw("ZADD", "reel2:{main}:lease", "1", String(name))
            }
            _ = try await reaper.reap()
            if try await unfinished().isEmpty { break }
            for id in OperationSource.ids { try fallDue(id) }
        }
        // Fields that only views read are put right by the audit that follows a start of Redis.
        _ = try await board.audit()
        found += try await unfinished() + wrongCounters()
        if try await board.audit().repairs > 0 { found.append("an audit after the audit repairs") }
        if try raw("ZCARD", "reel2:{main}:lease") != "0" { found.append("leases are left") }
        return found
    }

    /// The totals of the backlog are the sum of its entries after any prefix of writes.
    private func wrongTotals() throws -> [String] {
        let script = """
            local sums, owned, places = { 0, 0, 0, 0, 0, 0, 0, 0, 0 }, {}, {}
            for place, state in ipairs({ 'probing', 'running', 'assembling', 'paused', 'unreadable' }) do
              places[state] = place
            end
            local all = redis.call('HGETALL', KEYS[1])
            for i = 1, #all, 2 do
              local state, waiting, held, done, owner = all[i + 1]:match('^(%l+) (%d+) (%d+) (%d+) %d+ (.*)$')
              if state then
                local waits = state == 'paused' and 7 or 6
                sums[places[state]], sums[waits] = sums[places[state]] + 1, sums[waits] + waiting
                sums[8], sums[9] = sums[8] + held, sums[9] + done
                owned[owner] = (owned[owner] or 0) + 1
              end
            end
            local found = {}
            local totals = redis.call('HGET', KEYS[1], '*')
            if totals and totals ~= table.concat(sums, ' ') then found[1] = totals end
            for i = 1, #all, 2 do
              local owner = all[i]:match('^@(.*)$')
              if owner and tonumber(all[i + 1]) ~= (owned[owner] or 0) then found[#found + 1] = owner end
            end
            return found
            """
        return try raw("EVAL", script, "1", "reel2:{main}:backlog").split(separator: "\n")
            .map { "the totals of the backlog are not the sum of its entries: \($0)" }
    }

    /// After an audit the counters say what is found by looking at every job.
    private func wrongCounters() async throws -> [String] {
        let counted = try await board.figures().timeless
        let found = try await BoardFixture.scannedFigures(board, raw).timeless
        return counted == found ? [] : ["the board counts \(counted)\nbut has \(found)"]
    }

    /// Makes an ended job anew, even if a process wanted to remove it.
    private func putAgain(_ id: JobID) async throws {
        guard let job = source.job(id, plan: 9) else { return }
        if try await board.status(id)?.state.isTerminal == true { try await board.forget(id) }
        _ = try await board.put(job)
    }

    private func publish(_ claim: Claim) async throws {
        guard let job = source.job(claim.job, plan: 8) else { return }
        _ = try await board.publish(job, claim: claim)
    }

    private func fallDue(_ id: String) throws {
        let key = "reel2:{main}:job:\(id):retry"
        for index in try raw("ZRANGE", key, "0", "-1").split(separator: "\n").map(String.init) {
            try raw("ZADD", key, "1", index)
        }
        try raw("ZADD", "reel2:{main}:timer", "XX", "1", id)
    }

    private func unfinished() async throws -> [String] {
        var found: [String] = []
        for id in OperationSource.ids {
            guard let status = try await board.status(JobID(id)) else { continue }
            let keys = try raw("HKEYS", "reel2:{main}:job:\(id):done").split(separator: "\n")
            let done = keys.compactMap { Int($0) }.sorted()
            if status.state != .done || done != Array(0...status.job.passCount) {
                found.append("job \(id) is \(status.state), with results of \(done)")
            }
            // Of a job that was trimmed, the totals alone are left.
            let results = try await board.results(JobID(id))
            let frames = results.values.map(\.statistics.framesEncoded)
            if results.count == done.count, status.framesEncoded != frames.reduce(0, +) {
                found.append("job \(id) counts \(status.framesEncoded)")
            }
        }
        return found
    }
}

// What servers do that send webhooks.
extension Conformance {
    mutating func performSending(_ operation: Operation) async throws {
        switch operation {
        case .hook(let job, let url): compare(try await board.hook(JobID(job), url), model.hook(job, url))
        case .dispatch:
            let (found, expected) = (try await board.dispatch(), model.dispatch())
            compare(found?.timeless, expected?.timeless)
            if let found, let expected { dueWebhooks.append((found, expected)) }
        case .dispatched(let place, let outcome):
            let webhook = dueWebhooks[place]
            compare(
                try await board.dispatched(webhook.board, outcome).timeless, model.dispatched(webhook.model, outcome))
        case .fallDueToSend:
            for name in try raw("ZRANGE", "reel2:{main}:webhooks", "0", "-1").split(separator: "\n") {
                try raw("ZADD", "reel2:{main}:webhooks", "1", String(name))
            }
            model.fallDueToSend()
        default: break
        }
    }
}

extension DueWebhook {
    /// Without what depends on the clock.
    fileprivate var timeless: DueWebhook {
        var webhook = self
        (webhook.since, webhook.till) = (0, 0)
        return webhook
    }
}
