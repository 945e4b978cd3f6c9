import ReelCore
import ReelQueue

/// One thing that may befall the board. Claims are named by their number among all that were answered, leases by their
/// place among the model's, so that a sequence can be replayed though tokens are random.
enum Operation {
    case publish(PublishedJob, finished: [Int], paused: Bool)
    /// A publisher dies before its last step.
    case abandon(PublishedJob)
    case claim(worker: Int)
    /// The reply is lost, and the worker with it.
    case claimInVain(worker: Int)
    case beat(worker: Int, claims: [Int], encoded: Int, wholeRuns: Int)
    case complete(claim: Int)
    case fail(claim: Int, FailureCause)
    case release(claim: Int)
    case lapse(leases: [Int])
    case reap(sinceStartOfRedis: Bool)
    case fallDue(job: String, longSince: Bool)
    /// A pass turns out to have begun long ago, and a quick worker asks for work.
    case lag(job: String, index: Int, worker: Int)
    case cancel(String), pause(String), resume(String), retry(String), forget(String)
    case drain(worker: Int), depart(worker: Int), silence(worker: Int)
    case audit
    /// Redis is killed and starts again.
    case restart
}

/// Operations of one seed, drawn by what the model knows.
struct OperationSource {
    private var random: SplitMix64
    let workers: [ConformingWorker]
    private var jobs: [PublishedJob] = []
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

    private static func job(_ id: String, passes: Int, using random: inout SplitMix64) -> PublishedJob {
        let encoders = [["libx264 1"], ["libx264 1"], ["libx264 1", "aac 2"], []]
        return PublishedJob(
            id: JobID(id), source: "\(id).mkv", frames: Int.random(in: 30...90, using: &random),
            // Where packets are copied there is nothing but the assembly.
            passCount: Int.random(in: 0...passes, using: &random),
            need: [100, 100, 600].randomElement(using: &random) ?? 100,
            encoders: encoders.randomElement(using: &random) ?? [],
            protocolVersion: Int.random(in: 0..<12, using: &random) == 0 ? 2 : 1,
            weight: [0.3, 1, 1, 3].randomElement(using: &random) ?? 1)
    }

    /// The passes of a job; the first of some is sound.
    static func passes(of job: PublishedJob) -> [Pass] {
        (0..<job.passCount).map { index in
            index == 0 && job.frames % 3 == 0
                ? .audio(0) : .video(VideoPass(randomAccessPoint: index, frames: index..<index + 10, runCount: 1))
        }
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// The next one, by what the model knows; `claims` are those that were answered.
    mutating func next(_ model: BoardModel, claims: [Claim], restarts: Bool) -> Operation {
        switch kind(restarts: restarts) {
        case .publish: return publication()
        case .abandon: return .abandon(jobs[below(jobs.count)])
        case .claim: return .claim(worker: below(workers.count))
        case .claimInVain: return .claimInVain(worker: below(workers.count))
        case .beat: return beat(claims)
        case .complete: return claim(of: claims, model).map { .complete(claim: $0) } ?? publication()
        case .fail: return claim(of: claims, model).map { .fail(claim: $0, cause()) } ?? publication()
        case .release: return claim(of: claims, model).map { .release(claim: $0) } ?? publication()
        case .lapse: return .lapse(leases: some(of: model.leases.count, percent: 50))
        case .reap: return .reap(sinceStartOfRedis: chance(10))
        case .fallDue: return .fallDue(job: jobID(), longSince: chance(40))
        case .lag: return laggard(model) ?? .claim(worker: below(workers.count))
        case .cancel: return .cancel(jobID())
        case .pause: return .pause(jobID())
        case .resume: return .resume(jobID())
        case .retry: return .retry(jobID())
        case .forget: return .forget(jobID())
        case .drain: return .drain(worker: below(workers.count))
        case .depart: return .depart(worker: below(workers.count))
        case .silence: return .silence(worker: below(workers.count))
        case .audit: return .audit
        case .restart: return .restart
        }
    }

    private enum Kind {
        case publish, abandon, claim, claimInVain, beat, complete, fail, release, lapse, reap, fallDue, lag
        case cancel, pause, resume, retry, forget, drain, depart, silence, audit, restart
    }

    /// Of a thousand operations so many.
    private static let weights: [(kind: Kind, weight: Int)] = [
        (.publish, 80), (.abandon, 10), (.claim, 220), (.claimInVain, 20), (.beat, 80), (.complete, 150), (.fail, 110),
        (.release, 30), (.lapse, 50), (.reap, 50), (.fallDue, 60), (.lag, 30), (.cancel, 12), (.pause, 12),
        (.resume, 17), (.retry, 18), (.forget, 8), (.drain, 5), (.depart, 4), (.silence, 6), (.audit, 18),
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

    private mutating func jobID() -> String { jobs[below(jobs.count)].id.text }

    private mutating func some(of count: Int, percent: Int) -> [Int] {
        (0..<count).filter { _ in chance(percent) }
    }

    private mutating func publication() -> Operation {
        var job = jobs[below(jobs.count)]
        if chance(10) { job = OperationSource.job(job.id.text, passes: 5, using: &random) }
        let finished = chance(15) ? some(of: job.passCount, percent: 50) : []
        return .publish(job, finished: finished, paused: chance(10))
    }

    private mutating func beat(_ claims: [Claim]) -> Operation {
        let recent = max(0, claims.count - 15)..<claims.count
        return .beat(
            worker: below(workers.count), claims: recent.filter { _ in chance(35) }, encoded: below(8),
            wholeRuns: chance(70) ? 0 : below(4))
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
