internal import Foundation
internal import ReelCore
package import ReelQueue

// From nothing to a plan, and what those do that wait for a job.
extension BoardModel {
    /// - Parameter token: what Redis's reply names, since tokens are random.
    package mutating func begin(_ job: BoardJob, holder: String, token: String, submission: String? = nil) -> Begun {
        let id = job.id.text
        if let before = jobs[id], !before.state.isTerminal {
            guard before.state == .probing else { return .running }
            if case .held = before.probe { return .probing }
            if before.isPaused { return .probing }
        } else {
            if jobs[id]?.removal?.isValid == true { return .busy }
            leaveLeases(id)
            withholdWebhooks(id)
            jobs[id] = Job(job, created: now)
            jobs[id]?.submission = submission
            jobs[id]?.run = job.run
        }
        var bare = job
        (bare.frames, bare.passCount, bare.encoders, bare.plan, bare.diagnostics) = (0, 0, [], 0, [])
        (bare.audioPasses, bare.planHash) = (nil, nil)
        bare.weight = jobs[id]?.weight ?? bare.weight
        bare.run = jobs[id]?.run
        jobs[id]?.published = bare
        hold(id, -1, .held(Holder(token: token, worker: holder), copy: nil), token: token)
        let need = jobs[id].map { self.need(of: -1, $0) } ?? 0
        return .begun(Claim(job: job.id, index: -1, work: .planning, token: token, need: need, plan: 0))
    }

    package mutating func publish(
        _ job: BoardJob, finished: [Int: RecordedResult], claim: Claim, paused: Bool
    ) -> Published {
        let id = job.id.text
        guard var changed = jobs[id] else { return .lost }
        guard changed.state == .probing else {
            if changed.publisher == claim.token { return .published }
            return changed.state == .cancelled ? .cancelled : .lost
        }
        guard case .held(let holder, _) = changed.probe, holder.token == claim.token else { return .lost }
        (changed.published, changed.publisher) = (job, claim.token)
        changed.published.run = changed.run
        changed.published.weight = changed.weight ?? job.weight
        changed.conditions = Array(repeating: .waiting, count: job.passCount + 1)
        for (index, recorded) in finished {
            changed.conditions[index] = .done(recorded)
        }
        if paused { changed.isPaused = true }
        if changed.notedPass == -1 { (changed.spaceNote, changed.notedPass) = (nil, nil) }
        changed.state = .running
        jobs[id] = changed
        if paused { leaveLine(id) }
        timer[id] = nil
        drop(id, -1, claim.token)
        count(.done)
        if let bytes = finished[job.passCount]?.result.statistics.outputBytes {
            let made = finished.values.map(\.result.statistics)
            let encoded = made.reduce(0) { $0 + $1.framesEncoded }
            count("frames:decoded", made.reduce(0) { $0 + $1.framesDecoded })
            count("frames:encoded", encoded)
            count("outputs")
            count("outputs:bytes", Int(bytes))
            work.frames += encoded
            work.passes += job.passCount
        }
        offer(id, at: now)
        settle(id)
        return .published
    }

    package mutating func attend(_ id: String, waiter: String, claim: Claim?) -> Attendance? {
        guard let job = jobs[id] else { return nil }
        jobs[id]?.waiters = job.waiters.filter(\.value)
        jobs[id]?.waiters[waiter] = true
        var (holds, isFree) = (false, false)
        if job.state == .probing {
            switch job.probe {
            case .held(let holder, _): holds = holder.token == claim?.token
            case .retry(let due): isFree = due <= now && !job.isPaused
            case .waiting, .done: isFree = !job.isPaused
            }
        }
        if holds, let token = claim?.token { hold(id, -1, job.probe, token: token) }
        return Attendance(state: job.state, holds: holds, isFree: isFree)
    }

    /// Whether the caller is to remove the job.
    package mutating func leave(_ id: String, waiter: String, claim: Claim?, abandoning: Bool) -> Bool {
        guard var job = jobs[id] else { return false }
        job.waiters[waiter] = nil
        job.waiters = job.waiters.filter(\.value)
        jobs[id] = job
        if job.state.isTerminal, job.removal?.isValid == true { return job.removal?.waiter == waiter }
        if job.state == .failed, job.isRefused, job.waiters.isEmpty {
            jobs[id]?.removal = (waiter, true)
            return true
        }
        guard job.state == .probing else { return false }
        var token: String?
        if case .held(let holder, _) = job.probe { token = holder.token }
        let isItsOwn = token != nil && token == claim?.token
        if abandoning, job.waiters.isEmpty, token == nil || isItsOwn {
            jobs[id]?.removal = (waiter, true)
            end(id, .cancelled)
            if let token { drop(id, -1, token) }
            return true
        }
        if isItsOwn, let token {
            handBack(id, -1, token, due: now)
            count(.released)
        }
        return false
    }

    /// The processes that wait for a job, and the one that removes it, are not heard of any more.
    package mutating func lapseWaiters(_ id: String) {
        for waiter in jobs[id]?.waiters.keys.sorted() ?? [] { jobs[id]?.waiters[waiter] = false }
        jobs[id]?.removal?.isValid = false
    }
}

// Being in line.
extension BoardModel {
    /// One that is begun owes nothing, nor is owed; one that is not waits in the queue.
    package mutating func join(_ id: String) {
        guard begun[id] != nil else {
            if queue[id] == nil { enqueue(id) }
            return
        }
        guard run[id] == nil else { return }
        run[id] = timeInLine(id)
    }

    package func timeInLine(_ id: String) -> Double { max(jobs[id]?.virtual ?? 0, virtual) }

    /// Each owner has one job in each turn.
    package mutating func enqueue(_ id: String) {
        guard let job = jobs[id] else { return }
        if queue.isEmpty, begun.isEmpty { (turns, begunOf) = ([:], [:]) }
        let owner = submitter(of: job)
        let weight = job.published.weight
        var all = turns[weight] ?? Turns()
        let turn = max(all.last[owner].map { $0 + 1 } ?? 0, all.now)
        all.last[owner] = turn
        turns[weight] = all
        jobs[id]?.owner = owner
        queue[id] = QueuePlace(weight: weight, turn: turn)
    }

    /// The submitter without the host; "" if that is not known.
    func submitter(of job: Job) -> String {
        struct Submission: Decodable { var submitter: String? }
        let said = job.submission.flatMap { try? JSONDecoder().decode(Submission.self, from: Data($0.utf8)) }
        return said?.submitter.flatMap { $0.lastIndex(of: "@").map($0.prefix(upTo:)) }.map(String.init) ?? ""
    }

    package mutating func beginJob(_ id: String) {
        guard begun[id] == nil, let job = jobs[id] else { return }
        if let place = queue[id] {
            let now = turns[place.weight]?.now ?? 0
            turns[place.weight]?.now = max(now, place.turn)
        }
        begunOf[job.owner, default: 0] += 1
        begun[id] = job.published.weight
        run[id] = run[id] ?? timeInLine(id)
        queue[id] = nil
    }

    /// The first of the queue begins if fewer jobs than slots at work have something to give out, if it is heavier than all
    /// that are begun, or if its owner has none that is begun.
    package mutating func beginNext() {
        guard let (id, place) = queue.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { return }
        guard
            run.count <= leases.count || place.weight > begun.values.max() ?? 0
                || begunOf[jobs[id]?.owner ?? ""] ?? 0 == 0
        else { return }
        beginJob(id)
    }

    package mutating func leaveLine(_ id: String) {
        queue[id] = nil
        guard let time = run.removeValue(forKey: id) else { return }
        jobs[id]?.virtual = time
    }

    /// There is work of a job from then on.
    package mutating func offer(_ id: String, at due: Int) {
        guard let job = jobs[id], !job.isPaused else { return }
        if due > now { timer[id] = min(due, timer[id] ?? due) } else { join(id) }
    }
}
