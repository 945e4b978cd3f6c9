import ReelBoardModel
import ReelCore
import ReelQueue
import ReelRandom

/// One thing that may befall the board. Claims are named by their number among all that were answered, leases by their
/// place among the model's, so that a sequence can be replayed though tokens are random.
enum Operation {
    /// Begun and published in one go.
    case put(BoardJob, finished: [Int], paused: Bool)
    case begin(BoardJob, coordinator: Int)
    /// The reply is lost, and the coordinator with it.
    case beginInVain(BoardJob, coordinator: Int)
    case publish(BoardJob, claim: Int, finished: [Int], paused: Bool)
    /// A publisher dies before its last step: this many passes of its plan are there, and this many results.
    case abandon(BoardJob, passes: Int, results: Int)
    case attend(job: String, coordinator: Int, claim: Int?)
    case leave(job: String, coordinator: Int, claim: Int?, abandoning: Bool)
    /// One that left a job to remove it does so.
    case remove(job: String)
    /// Processes that wait for a job have not been heard of for a lease.
    case lapseWaiters(job: String)
    case claim(worker: Int)
    /// The reply is lost, and the worker with it.
    case claimInVain(worker: Int)
    /// `other` of the claims is said to be of another plan than it is.
    case beat(worker: Int, claims: [Int], other: Int?, encoded: Int, wholeChunks: Int)
    case complete(claim: Int)
    /// `as` counts instead of the failure's own cause.
    case fail(claim: Int, FailureCause, as: FailureCause?)
    case release(claim: Int)
    /// Results prove wrong; `other` names another plan than the job's.
    case invalidate(job: String, passes: [Int], other: Bool)
    case lapse(leases: [Int])
    case reap(sinceStartOfRedis: Bool)
    case fallDue(job: String, longSince: Bool)
    /// A pass turns out to have begun long ago, and a quick worker asks for work.
    case lag(job: String, index: Int, worker: Int)
    case cancel(String), pause(String), resume(String), retry(String), forget(String)
    case weigh(String, Double), describe(String, String), trim(String)
    case hook(job: String, url: String)
    /// A server asks for a webhook to send, and says how that ended; its place is among the webhooks given out.
    case dispatch, dispatched(webhook: Int, DueWebhook.Outcome)
    /// Pauses and leases of webhooks are over.
    case fallDueToSend
    /// The worker, or its host.
    case drain(DrainScope, worker: Int), undrain(DrainScope, worker: Int)
    case depart(worker: Int), silence(worker: Int)
    /// The plan proves wrong in the hands of a claim's holder.
    case disprove(claim: Int)
    /// What was wrong with a worker's host is over.
    case readmit(worker: Int, jobs: [String])
    case audit
    /// Redis is killed and starts again.
    case restart
}

/// Operations of one seed, drawn by what the model knows.
struct OperationSource {
    private var random: SplitMix64
    let workers: [ConformingWorker]
    private var jobs: [BoardJob] = []
    /// Names of submitters.
    static let coordinators = ["c1", "c2", "c3"]
    private let frequentCause: FailureCause?
    static let ids = ["a", "b", "c", "d"]

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        workers = ConformingWorker.all
        // Some seeds have fewer jobs and passes, of which one cause of failure is frequent.
        frequentCause =
            Int.random(in: 0..<2, using: &random) == 0
            ? nil : [.transient, .crash, .lost, .limit].randomElement(using: &random)
        for id in OperationSource.ids.prefix(frequentCause == nil ? 4 : frequentCause == .lost ? 1 : 2) {
            jobs.append(OperationSource.job(id, passes: frequentCause == nil ? 5 : 2, using: &random))
        }
    }

    private static func job(_ id: String, passes: Int, using random: inout SplitMix64) -> BoardJob {
        let encoders = [["libx264 1"], ["libx264 1"], ["libx264 1", "aac 2"], []]
        var job = BoardJob(
            id: JobID(id), source: "\(id).mkv", frames: Int.random(in: 30...90, using: &random),
            // Where packets are copied there is nothing but the assembly.
            passCount: Int.random(in: 0...passes, using: &random),
            need: [100, 100, 600].randomElement(using: &random) ?? 100,
            encoders: encoders.randomElement(using: &random) ?? [],
            protocolVersion: Int.random(in: 0..<12, using: &random) == 0 ? 2 : 1,
            weight: [0.3, 1, 1, 3].randomElement(using: &random) ?? 1)
        // The first pass of some jobs is sound.
        job.audioPasses = job.frames % 3 == 0 ? min(job.passCount, 1) : 0
        return job
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// The next one, by what the model knows; `claims` are the answered ones.
    mutating func next(_ model: BoardModel, claims: [Claim], dueWebhooks: Int, restarts: Bool) -> Operation {
        switch kind(restarts: restarts) {
        case .put: return publication()
        case .begin: return .begin(jobs[below(jobs.count)], coordinator: coordinator())
        case .beginInVain: return .beginInVain(jobs[below(jobs.count)], coordinator: coordinator())
        case .publish: return probe(of: claims, model).map { publication(of: $0, claims[$0]) } ?? publication()
        case .abandon: return .abandon(planned(jobs[below(jobs.count)]), passes: below(8), results: below(8))
        case .attend:
            let id = jobID()
            return .attend(job: id, coordinator: coordinator(), claim: probe(of: claims, model, id))
        case .leave:
            let id = jobID()
            return .leave(
                job: id, coordinator: coordinator(), claim: probe(of: claims, model, id), abandoning: chance(50))
        case .remove: return .remove(job: jobID())
        case .lapseWaiters: return .lapseWaiters(job: jobID())
        case .claim: return .claim(worker: below(workers.count))
        case .claimInVain: return .claimInVain(worker: below(workers.count))
        case .beat: return beat(claims)
        case .complete:
            guard let place = claim(of: claims, model) else { return publication() }
            return claims[place].index < 0 && chance(80)
                ? publication(of: place, claims[place]) : .complete(claim: place)
        case .fail:
            guard let place = claim(of: claims, model) else { return publication() }
            return .fail(claim: place, cause(), as: chance(5) ? .permanent : nil)
        case .release: return claim(of: claims, model).map { .release(claim: $0) } ?? publication()
        case .invalidate:
            let id = jobID()
            let passes = some(of: model.jobs[id]?.published.passCount ?? 0, percent: 40)
            return .invalidate(job: id, passes: passes, other: chance(5))
        case .lapse: return .lapse(leases: some(of: model.leases.count, percent: 50))
        case .reap: return .reap(sinceStartOfRedis: chance(10))
        case .fallDue: return .fallDue(job: jobID(), longSince: chance(40))
        case .lag: return laggard(model) ?? .claim(worker: below(workers.count))
        case .cancel: return .cancel(jobID())
        case .pause: return .pause(jobID())
        case .resume: return .resume(jobID())
        case .weigh: return .weigh(jobID(), [0.25, 1, 3][below(3)])
        case .trim: return .trim(jobID())
        case .describe: return .describe(jobID(), "{\"name\":\"\(below(100))\",\"submitter\":\"u\(below(3))@h\"}")
        case .hook: return .hook(job: jobID(), url: "https://\(below(chance(5) ? 12 : 3)).example/")
        case .dispatch: return .dispatch
        case .dispatched:
            guard dueWebhooks > 0 else { return .dispatch }
            let last = dueWebhooks - 1
            return .dispatched(
                webhook: chance(70) ? last : below(dueWebhooks), [.sent, .failed, .failed, .refused][below(4)])
        case .fallDueToSend: return .fallDueToSend
        case .retry: return .retry(jobID())
        case .forget: return .forget(jobID())
        case .drain: return .drain(chance(60) ? .worker : .host, worker: below(workers.count))
        case .undrain: return .undrain(chance(60) ? .worker : .host, worker: below(workers.count))
        case .depart: return .depart(worker: below(workers.count))
        case .silence: return .silence(worker: below(workers.count))
        case .disprove: return claim(of: claims, model).map { .disprove(claim: $0) } ?? publication()
        case .readmit: return .readmit(worker: below(workers.count), jobs: [jobID(), jobID()])
        case .audit: return .audit
        case .restart: return .restart
        }
    }

    private enum Kind {
        case put, begin, beginInVain, publish, abandon, attend, leave, remove, lapseWaiters, claim, claimInVain, beat,
            complete, fail, release, invalidate, lapse, reap, fallDue, lag
        case cancel, pause, resume, weigh, describe, trim, retry, forget, hook, dispatch, dispatched,
            fallDueToSend, drain, undrain, depart, silence, readmit, disprove, audit, restart
    }

    /// The number of these operations in a thousand.
    private static let weights: [(kind: Kind, weight: Int)] = [
        (.put, 50), (.begin, 35), (.beginInVain, 5), (.publish, 30), (.abandon, 10), (.attend, 25), (.leave, 22),
        (.remove, 10), (.lapseWaiters, 6), (.claim, 125), (.claimInVain, 17), (.beat, 64), (.complete, 120),
        (.fail, 85), (.release, 25), (.invalidate, 20), (.lapse, 40), (.reap, 45), (.fallDue, 50), (.lag, 28),
        (.cancel, 12), (.pause, 12), (.resume, 17), (.weigh, 6), (.describe, 4), (.trim, 12), (.retry, 18),
        (.forget, 8), (.hook, 8), (.dispatch, 7), (.dispatched, 5), (.fallDueToSend, 2),
        (.drain, 5), (.undrain, 12), (.depart, 4),
        (.silence, 6), (.readmit, 10), (.disprove, 12),
        (.audit, 18),
        (.restart, 10),
    ]

    private mutating func kind(restarts: Bool) -> Kind {
        var place = below(restarts ? 1000 : 990)
        for (kind, weight) in OperationSource.weights {
            if place < weight { return unlucky(kind) }
            place -= weight
        }
        return .audit
    }

    /// Where one cause of failure is frequent, passes fail that would have been completed, so that attempts run out.
    private mutating func unlucky(_ kind: Kind) -> Kind {
        kind == .complete && frequentCause != nil && chance(65) ? .fail : kind
    }

    private mutating func coordinator() -> Int { below(OperationSource.coordinators.count) }

    /// With the number of one of its plans.
    private mutating func planned(_ job: BoardJob) -> BoardJob {
        var job = job
        job.plan = 1 + below(3)
        job.planHash = "hash of plan \(job.plan)"
        return job
    }

    /// The job of that id, with the number of a plan.
    func job(_ id: JobID, plan: Int) -> BoardJob? {
        var job = jobs.first { $0.id == id }
        job?.plan = plan
        job?.planHash = "hash of plan \(plan)"
        return job
    }

    /// Mostly a claim that holds a probe: of that job, if one is named.
    private mutating func probe(of claims: [Claim], _ model: BoardModel, _ id: String? = nil) -> Int? {
        let probes = claims.indices.filter { place in
            claims[place].index < 0 && (id == nil || claims[place].job.text == id)
        }
        let holding = probes.filter { place in
            model.jobs[claims[place].job.text].map { model.holds(claims[place].token, -1, of: $0) } ?? false
        }
        let some = chance(85) && !holding.isEmpty ? holding : probes
        return some.isEmpty || chance(15) ? nil : some[below(some.count)]
    }

    private mutating func publication(of place: Int, _ claim: Claim) -> Operation {
        guard let job = jobs.first(where: { $0.id == claim.job }) else { return publication() }
        return .publish(
            planned(job), claim: place, finished: chance(30) ? some(of: job.passCount, percent: 40) : [],
            paused: chance(10))
    }

    private mutating func jobID() -> String { jobs[below(jobs.count)].id.text }

    private mutating func some(of count: Int, percent: Int) -> [Int] { (0..<count).filter { _ in chance(percent) } }

    private mutating func publication() -> Operation {
        var job = jobs[below(jobs.count)]
        if chance(10) { job = OperationSource.job(job.id.text, passes: 5, using: &random) }
        let finished = chance(15) ? some(of: job.passCount, percent: 50) : []
        return .put(planned(job), finished: finished, paused: chance(10))
    }

    private mutating func beat(_ claims: [Claim]) -> Operation {
        let recent = max(0, claims.count - 15)..<claims.count
        return .beat(
            worker: below(workers.count), claims: recent.filter { _ in chance(35) },
            other: chance(10) ? below(15) : nil, encoded: below(8), wholeChunks: chance(70) ? 0 : below(4))
    }

    /// Mostly one that holds its pass.
    private mutating func claim(of claims: [Claim], _ model: BoardModel) -> Int? {
        let holding = claims.indices.filter { place in
            let claim = claims[place]
            return model.jobs[claim.job.text].map { model.holds(claim.token, claim.index, of: $0) } ?? false
        }
        let some = chance(80) && !holding.isEmpty ? holding : Array(claims.indices.suffix(30))
        return some.isEmpty ? nil : some[below(some.count)]
    }

    private mutating func cause() -> FailureCause {
        if let frequentCause, chance(80) { return frequentCause }
        return switch below(100) {
        case 0..<28: .transient
        case 28..<48: .crash
        case 48..<60: .lost
        case 60..<70: .limit
        case 70..<80: .incompatible
        case 80..<96: .noSpace
        default: .permanent
        }
    }

    private mutating func laggard(_ model: BoardModel) -> Operation? {
        var held: [(job: String, index: Int)] = []
        for id in model.jobs.keys.sorted() {
            for (index, condition) in (model.jobs[id]?.conditions ?? []).enumerated() {
                if case .held = condition { held.append((id, index)) }
            }
        }
        guard !held.isEmpty else { return nil }
        let (job, index) = held[below(held.count)]
        return .lag(job: job, index: index, worker: below(workers.count))
    }
}

/// A worker with what it offers and what it tells of itself.
struct ConformingWorker {
    var offer: WorkerOffer
    var host: String
    var memoryTotal: Int64

    func name(in scope: DrainScope) -> String {
        switch scope {
        case .worker: offer.worker.text
        case .host: host
        }
    }

    static let all: [ConformingWorker] = [
        make("w1", host: "one", memory: 1500), make("w2", host: "two", memory: 1500),
        make("w3", host: "two", memory: 1500), make("w4", host: "four", memory: 150),
        make("w5", host: "five", memory: 1500, encoders: ["libx264 1"]), make("w6", host: "six", memory: 700),
    ]

    private static func make(
        _ name: String, host: String, memory: Int64, encoders: [String] = ["libx264 1", "aac 2"]
    ) -> ConformingWorker {
        ConformingWorker(
            offer: WorkerOffer(worker: WorkerID(name), memoryFree: memory, encoders: encoders, protocolVersion: 1),
            host: host, memoryTotal: memory)
    }
}
