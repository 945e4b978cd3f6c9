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
    private let jobs: [PublishedJob]
    static let ids = ["a", "b", "c", "d"]

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        workers = ConformingWorker.all
        var jobs: [PublishedJob] = []
        for id in OperationSource.ids { jobs.append(OperationSource.job(id, using: &random)) }
        self.jobs = jobs
    }

    private static func job(_ id: String, using random: inout SplitMix64) -> PublishedJob {
        let encoders = [["libx264 1"], ["libx264 1"], ["libx264 1", "aac 2"], []]
        return PublishedJob(
            id: JobID(id), source: "\(id).mkv", frames: Int.random(in: 30...90, using: &random),
            passCount: Int.random(in: 1...5, using: &random),
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

    /// The next one. `claims` are those that were answered, with the model's word for whether they still hold.
    mutating func next(_ model: BoardModel, claims: [Claim], restarts: Bool) -> Operation {
        switch below(restarts ? 1010 : 1000) {
        case 0..<90: return publication()
        case 90..<100: return .abandon(jobs[below(jobs.count)])
        case 100..<360: return .claim(worker: below(workers.count))
        case 360..<380: return .claimInVain(worker: below(workers.count))
        case 380..<460: return beat(claims)
        case 460..<620: return claim(of: claims, model).map { .complete(claim: $0) } ?? publication()
        case 620..<720: return claim(of: claims, model).map { .fail(claim: $0, cause()) } ?? publication()
        case 720..<750: return claim(of: claims, model).map { .release(claim: $0) } ?? publication()
        case 750..<785: return .lapse(leases: some(of: model.leases.count, percent: 40))
        case 785..<820: return .reap(sinceStartOfRedis: chance(10))
        case 820..<870: return .fallDue(job: jobID(), longSince: chance(40))
        case 870..<905: return laggard(model) ?? .claim(worker: below(workers.count))
        case 905..<912: return .cancel(jobID())
        case 912..<926: return .pause(jobID())
        case 926..<945: return .resume(jobID())
        case 945..<960: return .retry(jobID())
        case 960..<968: return .forget(jobID())
        case 968..<973: return .drain(worker: below(workers.count))
        case 973..<977: return .depart(worker: below(workers.count))
        case 977..<982: return .silence(worker: below(workers.count))
        case 982..<1000: return .audit
        default: return .restart
        }
    }

    private mutating func jobID() -> String { jobs[below(jobs.count)].id.text }

    private mutating func some(of count: Int, percent: Int) -> [Int] {
        (0..<count).filter { _ in chance(percent) }
    }

    private mutating func publication() -> Operation {
        var job = jobs[below(jobs.count)]
        if chance(10) { job = OperationSource.job(job.id.text, using: &random) }
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
        switch below(100) {
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
