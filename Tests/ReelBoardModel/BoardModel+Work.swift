package import ReelCore
package import ReelQueue

// What workers do.
extension BoardModel {
    /// - Parameters:
    ///   - token: what Redis's reply names, since tokens are random.
    ///   - quickIn: the job of which the worker is known to do a pass quickly.
    package mutating func claim(_ offer: WorkerOffer, token: String, quickIn: String? = nil) -> Claim? {
        guard drained(offer.worker.text) == nil else { return nil }
        for (id, due) in timer where due <= now {
            timer[id] = nil
            join(id)
        }
        beginNext()
        for id in line() {
            guard let job = jobs[id], canTake(job, offer) else { continue }
            if job.state == .probing {
                switch job.probe {
                case .retry(let due) where due <= now && isForOthers(-1, of: job, offer, waited: now - due): continue
                case .retry(let due) where due <= now: return give(id, -1, to: offer, token: token)
                case .waiting: return give(id, -1, to: offer, token: token)
                case .held, .retry, .done: park(id)
                }
                continue
            }
            if let missing = job.published.encoders.first(where: { !offer.encoders.contains($0) }) {
                exclude(offer.worker.text, from: id, ReelFailure(.encoderMissing(build: missing)))
                continue
            }
            if let index = next(of: job, for: offer) { return give(id, index, to: offer, token: token) }
            if mayAssemble(job), need(of: job.published.passCount, job) <= offer.memoryFree,
                id != quickIn || laggard(of: job, for: offer) == nil
            {
                let claim = give(id, job.published.passCount, to: offer, token: token)
                park(id)
                return claim
            }
            if !job.conditions.contains(where: isDue) { park(id) }
        }
        return quickIn.flatMap { copy($0, to: offer, token: token) }
    }

    /// Jobs in line, the next one first; jobs that are not begun come last.
    package func line() -> [String] {
        run.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
            + queue.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    }

    private func isDue(_ condition: Condition) -> Bool {
        if case .retry(let due) = condition { due <= now } else { false }
    }

    private func canTake(_ job: Job, _ offer: WorkerOffer) -> Bool {
        job.published.need <= offer.memoryFree && job.published.protocolVersion == offer.protocolVersion
            && job.excluded[offer.worker.text] == nil
    }

    /// A retry that is due goes first, the one that is due longest before the others.
    private func next(of job: Job, for offer: WorkerOffer) -> Int? {
        let due = job.conditions.indices.compactMap { index -> (Int, String, Int)? in
            guard case .retry(let due) = job.conditions[index], due <= now,
                !isForOthers(index, of: job, offer, waited: now - due)
            else { return nil }
            return (due, String(index), index)
        }
        if let first = due.min(by: { ($0.0, $0.1) < ($1.0, $1.1) }) { return first.2 }
        // Its other passes wait, too, while jobs wait to begin.
        if !queue.isEmpty, job.conditions.contains(where: isDue) { return nil }
        return job.conditions.dropLast().firstIndex {
            if case .waiting = $0 { true } else { false }
        }
    }

    private func isForOthers(_ index: Int, of job: Job, _ offer: WorkerOffer, waited: Int) -> Bool {
        guard let failures = job.failures[index] else { return false }
        if need(of: index, job) > offer.memoryFree { return true }
        let refusedOn = failures.hosts["permanent"] ?? []
        if refusedOn.contains(host(of: offer.worker.text)), waited <= BoardPolicy.hostPatience * BoardModel.lease,
            othersCould(job, refusedOn, need: need(of: index, job))
        {
            return true
        }
        guard failures.crashedOn.contains(offer.worker.text), waited <= BoardModel.lease else { return false }
        return !queue.isEmpty || liveWorkers.contains { !failures.crashedOn.contains($0) }
    }

    /// Once more than the job's after it ran out of memory.
    package func need(of index: Int, _ job: Job) -> Int64 {
        job.failures[index]?.attempts["limit"] == nil ? job.published.need : 2 * job.published.need
    }

    private mutating func give(_ id: String, _ index: Int, to offer: WorkerOffer, token: String) -> Claim? {
        beginJob(id)
        guard let job = jobs[id], let time = run[id] else { return nil }
        hold(id, index, .held(Holder(token: token, worker: offer.worker.text), copy: nil), token: token)
        if index >= 0, index < job.published.passCount { count("wait") }
        let frames = max(job.published.frames, 1)
        run[id] = time + Double(frames) / Double(max(job.published.passCount, 1)) / job.published.weight
        virtual = max(virtual, time)
        return claimed(index, of: job, token: token)
    }

    private func claimed(_ index: Int, of job: Job, token: String) -> Claim {
        Claim(
            job: job.published.id, index: index, work: job.published.work(at: index) ?? .video, token: token,
            need: need(of: index, job), plan: job.published.plan, planHash: job.published.planHash ?? "")
    }

    private mutating func park(_ id: String) {
        let conditions = jobs[id].map { $0.conditions + [$0.probe] }
        let retries = conditions?.compactMap { condition -> Int? in
            if case .retry(let due) = condition { due } else { nil }
        }
        if let first = retries?.min() { timer[id] = min(first, timer[id] ?? first) }
        leaveLine(id)
    }

    /// The assembly begins early if no job waits to begin, every pass left is held, and all sound and the first video
    /// pass are finished.
    private func mayAssemble(_ job: Job) -> Bool {
        guard queue.isEmpty, job.state == .running, job.hasNothingToGive, job.finished < job.published.passCount,
            case .waiting = job.conditions[job.published.passCount]
        else { return false }
        // All passes of sound, and one of video.
        let count = (job.published.audioPasses ?? 0) + 1
        return count <= job.published.passCount
            && job.conditions[..<count].allSatisfy { if case .done = $0 { true } else { false } }
    }

    /// Where every pass left is held, the one with the longest time left is given out a second time.
    private mutating func copy(_ id: String, to offer: WorkerOffer, token: String) -> Claim? {
        guard let job = jobs[id], job.state == .running, !job.isPaused, canTake(job, offer),
            job.published.encoders.allSatisfy(offer.encoders.contains), let index = laggard(of: job, for: offer),
            case .held(let holder, _) = job.conditions[index]
        else { return nil }
        jobs[id]?.backups += 1
        let copy = Holder(token: token, worker: offer.worker.text)
        hold(id, index, .held(holder, copy: copy), token: token)
        return claimed(index, of: job, token: token)
    }

    /// The pass that this worker may do a second time.
    private func laggard(of job: Job, for offer: WorkerOffer) -> Int? {
        guard BoardPolicy.allowsBackup(after: job.backups, passes: job.published.passCount) else { return nil }
        let videos = max(job.published.passCount - (job.published.audioPasses ?? 0), 1)
        let perPass = 2 * Double(job.published.frames) / Double(videos)
        var longest: (left: Double, index: Int)?
        for (index, condition) in job.conditions.dropLast().enumerated() {
            switch condition {
            case .waiting, .retry: return nil
            case .done: continue
            case .held(let holder, let copy):
                let done = Double(holder.decoded + holder.encoded)
                // Where nothing is done, the whole time counts, else that up to the last beat.
                let left = done > 0 ? (perPass - done) / done : 1.000_001
                guard holder.lags, workers[holder.worker]?.isSilent == false, copy == nil,
                    holder.worker != offer.worker.text, job.published.work(at: index) == .video,
                    !isForOthers(index, of: job, offer, waited: 0), left > longest?.left ?? 0
                else { continue }
                longest = (left, index)
            }
        }
        return longest?.index
    }

    package mutating func complete(_ claim: Claim, result: PassResult) throws(ReelFailure) -> CompleteAnswer {
        let (id, index) = (claim.job.text, claim.index)
        guard let job = jobs[id] else {
            drop(id, index, claim.token)
            return .cancelled
        }
        guard job.published.plan == claim.plan, index >= 0 else { return .late }
        let condition = job[index]
        if case .done(let recorded) = condition {
            settle(id)
            drop(id, index, claim.token)
            return recorded.token == claim.token ? .duplicate : .late
        }
        guard job.canBeWorkedOn else {
            drop(id, index, claim.token)
            return .cancelled
        }
        var losers: [String] = []
        var encoded: Int?
        if case .held(let holder, let copy) = condition {
            encoded = [holder, copy].compactMap(\.self).first { $0.token == claim.token }?.encoded
            let tokens = [holder.token] + [copy?.token].compactMap(\.self)
            guard tokens.contains(claim.token) else { return .late }
            losers = tokens
        }
        guard job.returned[index] != claim.token else { return .late }
        let passCount = job.published.passCount
        guard index < passCount || index == passCount && job.finished == passCount else {
            throw ReelFailure(.redisRefused(address: "", said: "it cannot be complete yet", passes: false))
        }
        jobs[id]?[index] = .done(RecordedResult(token: claim.token, result: result))
        for token in losers + [claim.token] { endLease(id, index, token) }
        if job.notedPass == index {
            jobs[id]?.spaceNote = nil
            jobs[id]?.notedPass = nil
        }
        settle(id)
        if let job = jobs[id], job.state == .running, job.hasNothingToGive { offer(id, at: now) }
        count(.done)
        count("frames:decoded", result.statistics.framesDecoded)
        count("frames:encoded", result.statistics.framesEncoded)
        if let bytes = result.statistics.outputBytes {
            count("outputs")
            count("outputs:bytes", Int(bytes))
        }
        if encoded != nil, index < passCount { count("duration") }
        work.frames += max(result.statistics.framesEncoded - (encoded ?? 0), 0)
        work.passes += index < passCount ? 1 : 0
        return .ok
    }

    /// - Parameter cause: instead of the failure's own.
    package mutating func fail(
        _ claim: Claim, worker: String, failure: ReelFailure, as cause: FailureCause? = nil
    ) -> FailAnswer {
        let cause = cause ?? failure.cause
        let (id, index) = (claim.job.text, claim.index)
        if let job = jobs[id], job.published.plan != claim.plan { return .late }
        guard let job = jobs[id], job.isOpen(index), holds(claim.token, index, of: job) else {
            drop(id, index, claim.token)
            return .late
        }
        var due = now
        var reason: FailureReason?
        self.count(.failed(cause))
        switch cause {
        case .noSpace:
            let note = JobStatus.HostFailure(host: host(of: worker), reason: failure)
            jobs[id]?.spaceNote = note
            jobs[id]?.notedPass = index
        case .incompatible:
            if exclude(worker, from: id, failure) {
                drop(id, index, claim.token)
                return .jobFailed
            }
        case .transient:
            let count = charge(id, index, failure, cause, worker: worker, token: claim.token)
            due += BoardModel.lease << (count - 1)
            if isLast(count, .transient) { reason = .passExhausted(pass: index, attempts: count, last: failure) }
        case .limit:
            let count = charge(id, index, failure, cause, worker: worker, token: claim.token)
            let need = job.published.need
            if isLast(count, .limit) || !liveWorkers.contains(where: { workers[$0]?.memory ?? 0 >= 2 * need }) {
                reason = .passOutOfMemory(pass: index, planned: need, doubled: count > 1, last: failure)
            }
        case .crash, .lost:
            let count = charge(id, index, failure, cause, worker: worker, token: claim.token)
            if isLast(count, cause) { reason = .passExhausted(pass: index, attempts: count, last: failure) }
        case .permanent:
            let count = charge(id, index, failure, cause, worker: worker, token: claim.token)
            let hosts = jobs[id]?.failures[index]?.hosts["permanent"] ?? []
            if count > 1 || index < 0 && workers[worker] == nil
                || !othersCould(job, hosts, need: need(of: index, jobs[id] ?? job))
            {
                reason = failure.reason
            }
        }
        if let reason {
            fail(id, ReelFailure(reason), exhausted: index)
            drop(id, index, claim.token)
            return .jobFailed
        }
        handBack(id, index, claim.token, due: due)
        let crashes = jobs[id]?.failures[index]?.hosts["crash"] ?? []
        return cause == .crash && crashes.count > 1 ? .jobAtFault : .retry
    }

    /// The plan proves wrong: whether the job is probed again.
    package mutating func disprove(_ claim: Claim, job bare: BoardJob) -> Bool {
        let (id, index) = (claim.job.text, claim.index)
        if let job = jobs[id], job.published.plan != claim.plan { return false }
        guard index >= 0 else { return false }
        guard let job = jobs[id], job.canBeWorkedOn, holds(claim.token, index, of: job) else {
            drop(id, index, claim.token)
            return false
        }
        for (place, condition) in job.conditions.enumerated() {
            guard case .held(let holder, let copy) = condition else { continue }
            for token in [holder.token] + [copy?.token].compactMap(\.self) { endLease(id, place, token) }
        }
        var bare = bare
        (bare.frames, bare.passCount, bare.encoders, bare.plan, bare.diagnostics) = (0, 0, [], 0, [])
        (bare.audioPasses, bare.planHash) = (nil, nil)
        bare.weight = job.weight ?? bare.weight
        var begun = job
        (begun.published, begun.state, begun.probe) = (bare, .probing, .retry(due: now))
        (begun.conditions, begun.failures, begun.returned) = ([.waiting], [:], [:])
        (begun.backups, begun.spaceNote, begun.notedPass, begun.publisher) = (0, nil, nil, nil)
        jobs[id] = begun
        offer(id, at: now)
        return true
    }

    /// What was wrong with the host of a worker is over: how many jobs excluded it.
    package mutating func readmit(_ worker: String, to ids: [String]) -> Int {
        ids.reduce(0) { count, id in
            guard let job = jobs[id], !job.state.isTerminal, job.excluded[worker] != nil else { return count }
            jobs[id]?.excluded[worker] = nil
            offer(id, at: now)
            return count + 1
        }
    }

    /// Results prove wrong: how many were taken back.
    package mutating func invalidate(
        _ id: String, passes: [(index: Int, token: String)], plan: Int, worker: String, reason: ReelFailure
    ) -> Int {
        guard let job = jobs[id], job.published.plan == plan, job.canBeWorkedOn || job.state == .failed else {
            return 0
        }
        let wrong = passes.filter { pass in
            guard pass.index < job.published.passCount, case .done(let recorded) = job[pass.index] else { return false }
            return recorded.token == pass.token
        }
        guard !wrong.isEmpty else { return 0 }
        for pass in wrong {
            jobs[id]?.returned[pass.index] = pass.token
            jobs[id]?[pass.index] = job.canBeWorkedOn ? .retry(due: now) : .waiting
        }
        guard job.canBeWorkedOn else { return wrong.count }
        offer(id, at: now)
        jobs[id]?.state = .running
        if case .retry = job[job.published.passCount] { jobs[id]?[job.published.passCount] = .waiting }
        var exhausted: (index: Int, attempts: Int)?
        for pass in wrong {
            let count = charge(id, pass.index, reason, .transient, worker: worker, token: pass.token)
            if isLast(count, .transient) { exhausted = (pass.index, count) }
        }
        if let (index, attempts) = exhausted {
            fail(id, ReelFailure(.passExhausted(pass: index, attempts: attempts, last: reason)), exhausted: index)
        }
        return wrong.count
    }

    /// Whether the token held the pass.
    package mutating func release(_ claim: Claim) {
        let (id, index) = (claim.job.text, claim.index)
        if let job = jobs[id], job.published.plan != claim.plan { return }
        if let job = jobs[id], job.isOpen(index), holds(claim.token, index, of: job) {
            handBack(id, index, claim.token, due: now)
            count(.released)
        } else {
            drop(id, index, claim.token)
        }
    }

    package mutating func handBack(_ id: String, _ index: Int, _ token: String, due: Int) {
        jobs[id]?.returned[index] = token
        requeue(id, index, token, due: due)
    }

    /// Takes a pass from a token; false where another goes on with it.
    @discardableResult
    package mutating func requeue(_ id: String, _ index: Int, _ token: String, due: Int) -> Bool {
        drop(id, index, token)
        guard let job = jobs[id], case .waiting = job[index] else { return false }
        // An assembly that began early is released again by the last pass.
        guard index < job.published.passCount || job.finished == job.published.passCount else { return false }
        jobs[id]?[index] = .retry(due: due)
        offer(id, at: due)
        return true
    }

    /// Counts an attempt and gives how many there were of its cause.
    package mutating func charge(
        _ id: String, _ index: Int, _ reason: ReelFailure, _ cause: FailureCause, worker: String, token: String
    ) -> Int {
        var failures = jobs[id]?.failures[index] ?? Failures()
        failures.attempts[cause.rawValue, default: 0] += 1
        if cause == .crash { failures.crashedOn.insert(worker) }
        failures.hosts[cause.rawValue, default: []].insert(host(of: worker))
        failures.recent.append(
            PassFailure.Attempt(
                cause: cause.rawValue, reason: reason, worker: worker, host: host(of: worker), token: token, time: 0))
        failures.recent = failures.recent.suffix(BoardPolicy.attemptsKept)
        jobs[id]?.failures[index] = failures
        return failures.attempts[cause.rawValue] ?? 0
    }

    /// A worker gets nothing of a job any more. True where none is left, so that the job failed.
    @discardableResult
    private mutating func exclude(_ worker: String, from id: String, _ reason: ReelFailure) -> Bool {
        let host = host(of: worker)
        var excluded = (jobs[id]?.excluded ?? [:]).filter { workers[$0.key] != nil }
        excluded[worker] = JobStatus.HostFailure(host: host, reason: reason)
        jobs[id]?.excluded = excluded
        guard !liveWorkers.isEmpty, liveWorkers.allSatisfy({ excluded[$0] != nil }) else { return false }
        fail(id, ReelFailure(.noWorkerCan(host: host, last: reason)), exhausted: nil)
        return true
    }

    /// Whether a live worker on none of these hosts could try a pass that takes so much memory.
    private func othersCould(_ job: Job, _ hosts: Set<String>, need: Int64) -> Bool {
        workers.contains { name, worker in
            !worker.isSilent && drained(name) == nil && worker.memory >= need && !hosts.contains(worker.host)
                && job.excluded[name] == nil
        }
    }
}

// Holding a pass.
extension BoardModel {
    /// As its beats told; its own name before the first.
    package func host(of worker: String) -> String { workers[worker]?.host ?? worker }

    package var liveWorkers: [String] { workers.filter { !$0.value.isSilent }.map(\.key) }

    package func holds(_ token: String, _ index: Int, of job: Job) -> Bool {
        guard case .held(let holder, let copy) = job[index] else { return false }
        return holder.token == token || copy?.token == token
    }

    package mutating func hold(_ id: String, _ index: Int, _ condition: Condition, token: String) {
        jobs[id]?[index] = condition
        endLease(id, index, token)
        leases.append(Lease(holding: Holding(job: id, index: index, token: token)))
    }

    package mutating func endLease(_ id: String, _ index: Int, _ token: String) {
        leases.removeAll { $0.holding == Holding(job: id, index: index, token: token) }
    }

    /// Takes a pass from a token, if it has it. One that works at it beside goes on alone.
    package mutating func drop(_ id: String, _ index: Int, _ token: String) {
        endLease(id, index, token)
        guard let job = jobs[id], case .held(let holder, let copy) = job[index] else { return }
        if holder.token == token {
            jobs[id]?[index] = copy.map { .held($0, copy: nil) } ?? .waiting
        } else if copy?.token == token {
            jobs[id]?[index] = .held(holder, copy: nil)
        }
    }
}
