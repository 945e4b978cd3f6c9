import ReelBoardModel
import ReelCore
import ReelQueue
import ReelTestSupport

/// A board and its model side by side, through the operations of one seed.
struct Conformance {
    let server: RedisServer
    private(set) var raw: RawRedis
    private(set) var board: RedisBoard
    private(set) var reaper: RedisBoard
    var model = BoardModel()
    var source: OperationSource
    private let restarts: Bool
    /// The answered claims, and by whom.
    private(set) var claims: [Claim] = []
    private var claimers: [WorkerID] = []
    /// The webhooks that were given out, as the board and the model name them.
    var dueWebhooks: [(board: DueWebhook, model: DueWebhook)] = []
    /// The process that is to remove a job.
    private var removals: [String: Removal] = [:]
    private var removers: [String: String] = [:]
    /// When the last operation was over, in milliseconds by Redis's clock; while one goes on, a moment before it.
    private var last = 0
    private(set) var history: [String] = []
    private(set) var differences: [String] = []

    /// Waits that no test outlives; what time does is an operation.
    private static let timing = BoardTiming(
        lease: .seconds(3600), backoff: .seconds(3600), webhookLease: .seconds(7200), webhookPause: .seconds(3600))

    init(seed: UInt64, server: RedisServer, restarts: Bool) throws {
        self.server = server
        self.restarts = restarts
        source = OperationSource(seed: seed)
        (raw, board, reaper) = try Conformance.connect(server)
        try raw("FLUSHALL")
    }

    private static func connect(_ server: RedisServer) throws -> (RawRedis, RedisBoard, RedisBoard) {
        let raw = try RawRedis(socket: server.socket)
        let board = try BoardFixture.open(server, timing: timing)
        // To reap, Redis must have run for longer than a lease: any time is longer than this one.
        return (raw, board, try BoardFixture.open(server, timing: BoardTiming(lease: .milliseconds(-1))))
    }

    /// Draws an operation, carries it out, sometimes twice, and compares.
    mutating func step() async throws {
        let operation = source.next(model, claims: claims, dueWebhooks: dueWebhooks.count, restarts: restarts)
        history.append("\(operation)")
        try await perform(operation)
        if isRepeatable(operation), source.chance(12) {
            history.append("the same again, since its reply was lost")
            last = try clock()
            try await perform(operation)
        }
        try await look()
    }

    private func isRepeatable(_ operation: Operation) -> Bool {
        switch operation {
        case .put, .begin, .beginInVain, .claim, .claimInVain, .lag, .dispatch, .restart: false
        default: true
        }
    }

    mutating func perform(_ operation: Operation) async throws {
        try await tick()
        switch operation {
        case .put(let job, let finished, let paused): try await put(job, finished, paused)
        case .begin(let job, let coordinator): _ = try await begin(job, coordinator, keep: true)
        case .beginInVain(let job, let coordinator): _ = try await begin(job, coordinator, keep: false)
        case .publish(let job, let place, let finished, let paused):
            try await publish(job, claims[place], finished, paused)
        case .abandon(let job, let passes, let results): try abandon(job, passes, results)
        case .attend, .leave, .remove, .lapseWaiters: try await performWaiting(operation)
        case .claim(let worker): _ = try await claim(worker, keep: true)
        case .claimInVain(let worker): _ = try await claim(worker, keep: false)
        case .beat(let worker, let held, let other, let encoded, let whole):
            try await beat(worker, held, other, encoded, whole)
        case .complete(let place):
            let (claim, result) = (claims[place], Conformance.result(of: claims[place]))
            let (board, worker) = (board, claimers[place])
            let answer = await outcome { try await board.complete(claim, worker: worker, result: result) }
            compare(answer, outcome { try model.complete(claim, result: result) })
        case .fail(let place, let cause, let other):
            let failure = ReelFailure.sample(cause, "it broke")
            let answer = try await board.fail(claims[place], worker: claimers[place], failure: failure, as: other)
            compare(answer, model.fail(claims[place], worker: claimers[place].text, failure: failure, as: other))
        case .release(let place):
            try await board.release(claims[place])
            model.release(claims[place])
        case .invalidate(let job, let passes, let other): try await invalidate(job, passes, other)
        case .lapse(let places): try lapse(places)
        case .reap(let soon):
            compare(try await (soon ? board : reaper).reap(), model.reap(sinceStartOfRedis: soon))
        case .fallDue(let job, let longSince): try fallDue(job, longSince)
        case .lag(let job, let index, let worker): try await lag(job, index, worker)
        case .cancel(let job): compare(try await board.cancel(JobID(job)), model.cancel(job))
        case .pause(let job): compare(try await board.pause(JobID(job)), model.pause(job))
        case .weigh(let job, let weight):
            compare(try await board.weigh(JobID(job), weight), model.weigh(job, weight))
        case .trim(let job):
            try await board.trim(JobID(job))
            model.trim(job)
        case .describe(let job, let submission):
            compare(try await board.describe(JobID(job), submission), model.describe(job, submission))
        case .hook, .dispatch, .dispatched, .fallDueToSend: try await performSending(operation)
        case .resume(let job): compare(try await board.resume(JobID(job)), model.resume(job))
        case .retry(let job): compare(try await board.retry(JobID(job)), model.retry(job))
        case .forget(let job):
            let board = board
            let answer = await outcome { () async throws -> Bool in
                try await board.forget(JobID(job))
                return true
            }
            compare(
                answer,
                outcome { () throws -> Bool in
                    try model.forget(job)
                    return true
                })
        case .drain(let scope, let worker):
            let name = source.workers[worker].name(in: scope)
            compare(try await board.drain(scope, name), model.drain(scope, name))
        case .undrain(let scope, let worker):
            let name = source.workers[worker].name(in: scope)
            compare(try await board.undrain(scope, name), model.undrain(scope, name))
        case .depart(let worker):
            try await board.depart(source.workers[worker].offer.worker)
            model.depart(source.workers[worker].offer.worker.text)
        case .silence(let worker):
            let name = source.workers[worker].offer.worker.text
            try raw("ZADD", "reel2:{main}:workers", "XX", "1", name)
            model.silence(name)
        case .disprove(let place):
            let claim = claims[place]
            guard let job = source.job(claim.job, plan: 0) else { return }
            let answer = try await board.disprove(claim, worker: claimers[place], job: job)
            compare(answer, model.disprove(claim, job: job))
        case .readmit(let worker, let jobs):
            let name = source.workers[worker].offer.worker
            let answer = try await board.readmit(name, to: jobs.map { JobID($0) })
            compare(answer, model.readmit(name.text, to: jobs))
        case .audit: compare(try await board.audit(), model.audit())
        case .restart:
            server.kill()
            try server.start()
            (raw, board, reaper) = try Conformance.connect(server)
            compare(try await board.auditAfterRestart(), model.audit())
        }
    }

    /// Each operation has a millisecond of its own, so that the board orders them as the model does.
    private mutating func tick() async throws {
        model.tick()
        let before = last
        while last == before { last = try clock() }
    }

    private func clock() throws -> Int {
        let parts = try raw("TIME").split(separator: "\n").compactMap { Int($0) }
        return parts[0] * 1000 + parts[1] / 1000
    }

    static func result(of claim: Claim) -> PassResult {
        // Nothing decoded: how long a pass took is not kept.
        PassResult(
            segments: [],
            statistics: PassStatistics(
                framesEncoded: 7 + claim.index, peakRSS: 1000 + Int64(claim.index), cpuSeconds: 0.25,
                outputBytes: claim.index > 0 ? Int64(claim.index) * 100 : nil),
            diagnostics: [.said("from \(claim.token)")])
    }

    private static func results(_ finished: [Int]) -> [Int: RecordedResult] {
        Dictionary(
            uniqueKeysWithValues: finished.map { index in
                let statistics = PassStatistics(framesEncoded: 5, peakRSS: 900)
                let result = PassResult(segments: [], statistics: statistics, diagnostics: [])
                return (index, RecordedResult(token: "store\(index)", result: result))
            })
    }

    /// What a submitter does whose job is planned already.
    private mutating func put(_ job: BoardJob, _ finished: [Int], _ paused: Bool) async throws {
        guard let claim = try await begin(job, 0, keep: false) else { return }
        try await publish(job, claim, finished, paused)
    }

    private mutating func begin(_ job: BoardJob, _ coordinator: Int, keep: Bool) async throws -> Claim? {
        let holder = OperationSource.coordinators[coordinator]
        let answer = try await board.begin(job, holder: WorkerID(holder))
        let claim = answer.claim
        compare(answer, model.begin(job, holder: holder, token: claim?.token ?? "none"))
        if keep, let claim {
            claims.append(claim)
            claimers.append(WorkerID(holder))
        }
        return claim
    }

    private mutating func publish(_ job: BoardJob, _ claim: Claim, _ finished: [Int], _ paused: Bool) async throws {
        let results = Conformance.results(finished)
        let answer = try await board.publish(job, finished: results, claim: claim, paused: paused)
        compare(answer, model.publish(job, finished: results, claim: claim, paused: paused))
    }

    /// Leaves what a publisher has put up that holds the probe and dies: nothing of it may be seen or last.
    private mutating func abandon(_ job: BoardJob, _ passes: Int, _ results: Int) throws {
        guard case .held? = model.jobs[job.id.text]?.probe, model.jobs[job.id.text]?.state == .probing else { return }
        let key = "reel2:{main}:job:\(job.id)"
        for index in 0..<passes {
            try raw("HSET", "\(key):passes", String(index), "audio {}")
        }
        for (index, recorded) in Conformance.results(Array(0..<results)) {
            try raw("HSET", "\(key):done", String(index), "dead \(BoardFixture.json(recorded.result))")
            try raw("SETBIT", "\(key):map", String(index), "1")
            try raw(
                "HSETNX", "\(key):diagnostics", #"{"languages-lost":{"container":"mp4","languages":["of the dead"]}}"#,
                String(index))
        }
        if results > 0 { try raw("HSET", key, "sum", "\(results) 0 \(5 * results) 900") }
    }

    private mutating func performWaiting(_ operation: Operation) async throws {
        switch operation {
        case .attend(let job, let coordinator, let place):
            let (name, claim) = (OperationSource.coordinators[coordinator], place.map { claims[$0] })
            let answer = try await board.attend(JobID(job), waiter: name, claim: claim)
            compare(answer, model.attend(job, waiter: name, claim: claim))
        case .leave(let job, let coordinator, let place, let abandoning):
            let (name, claim) = (OperationSource.coordinators[coordinator], place.map { claims[$0] })
            let answer = try await board.leave(JobID(job), waiter: name, claim: claim, abandoning: abandoning)
            let removes = model.leave(job, waiter: name, claim: claim, abandoning: abandoning)
            compare(answer != .stays, removes)
            if let removal = answer.removal {
                removals[job] = removal
                removers[job] = name
            }
        case .remove(let job):
            guard let removal = removals[job] else { return }
            try await board.forget(JobID(job), removal: removal)
            try model.forget(job, removal: removers[job])
        case .lapseWaiters(let job):
            let key = "reel2:{main}:job:\(job)"
            for name in OperationSource.coordinators { try raw("ZADD", "\(key):waiters", "XX", "1", name) }
            if let remover = model.jobs[job]?.removal?.waiter { try raw("HSET", key, "removing", "\(remover) 1") }
            model.lapseWaiters(job)
        default: break
        }
    }

    private mutating func claim(_ worker: Int, keep: Bool, quickIn job: String? = nil) async throws {
        let offer = source.workers[worker].offer
        let answer = try await board.claim(offer)
        compare(answer, model.claim(offer, token: answer?.token ?? "none", quickIn: job))
        if keep, let answer {
            claims.append(answer)
            claimers.append(offer.worker)
        }
        history[history.count - 1] += answer.map { " -> \($0.job) \($0.index) \($0.token.prefix(6))" } ?? " -> nothing"
    }

    private mutating func beat(
        _ worker: Int, _ held: [Int], _ other: Int?, _ encoded: Int, _ wholeChunks: Int
    ) async throws {
        let worker = source.workers[worker]
        let report = WorkerReport(
            worker: worker.offer.worker, host: worker.host, slots: 2, slotsOut: encoded % 2,
            memoryTotal: worker.memoryTotal, encoders: worker.offer.encoders, protocolVersion: 1,
            held: held.enumerated().map { number, place in
                let claim = claims[place]
                return WorkerReport.Held(
                    job: claim.job, index: claim.index, token: claim.token,
                    plan: claim.plan + (number == other ? 1 : 0), decoded: encoded + 1, encoded: encoded,
                    wholeChunks: wholeChunks)
            })
        let (answer, expected) = (try await board.beat(report), model.beat(report))
        compare(answer.answers, expected.answers)
        compare(answer.drained, expected.drained)
    }

    private mutating func lapse(_ places: [Int]) throws {
        for holding in places.filter(model.leases.indices.contains).map({ model.leases[$0].holding }) {
            guard let score = model.lapse(holding) else { continue }
            let name = "\(holding.job)/\(holding.index)/\(holding.token)"
            try raw("ZADD", "reel2:{main}:lease", String(score), name)
        }
    }

    private mutating func invalidate(_ job: String, _ passes: [Int], _ other: Bool) async throws {
        let wrong = passes.map { index -> (index: Int, token: String) in
            guard case .done(let recorded)? = model.jobs[job]?[index] else { return (index, "none") }
            return (index, recorded.token)
        }
        let plan = (model.jobs[job]?.published.plan ?? 0) + (other ? 1 : 0)
        let reason = ReelFailure.sample(.transient, "it is wrong")
        let answer = try await board.invalidate(
            JobID(job), passes: wrong, plan: plan, by: WorkerID("w1"), reason: reason)
        compare(answer, model.invalidate(job, passes: wrong, plan: plan, worker: "w1", reason: reason))
    }

    private mutating func fallDue(_ job: String, _ longSince: Bool) throws {
        let key = "reel2:{main}:job:\(job):retry"
        let score = longSince ? "1" : String(last)
        for index in try raw("ZRANGE", key, "0", "-1").split(separator: "\n").map(String.init) {
            try raw("ZADD", key, "LT", score, index)
            try raw("ZADD", "reel2:{main}:ready", "XX", "LT", score, job)
        }
        try raw("ZADD", "reel2:{main}:timer", "XX", score, job)
        model.fallDue(job, longSince: longSince)
    }

    private mutating func lag(_ job: String, _ index: Int, _ worker: Int) async throws {
        guard let holder = model.lag(job, index) else { return }
        let (key, name) = ("reel2:{main}:job:\(job)", source.workers[worker].offer.worker.text)
        let entry = "\(holder.token) 1 \(holder.decoded) \(holder.encoded) \(holder.worker)"
        try raw("HSET", "\(key):live", String(index), entry)
        try raw("HSET", "\(key):times", name, "3600000")
        try raw("ZADD", "reel2:{main}:tail", "1", job)
        // Of two that have come equally far, the later beat tells: all that are heard of get the same.
        let clock = try raw("TIME").split(separator: "\n").compactMap { Int($0) }
        for name in try raw("ZRANGE", "reel2:{main}:workers", "2", "+inf", "BYSCORE").split(separator: "\n") {
            try raw("ZADD", "reel2:{main}:workers", String((clock[0] - 1) * 1000), String(name))
        }
        try await claim(worker, keep: true, quickIn: job)
        try raw("HDEL", "\(key):times", name)
    }

    /// Compares all that can be seen.
    private mutating func look() async throws {
        let board = try BoardFacts(raw)
        last = board.now
        let (seen, expected) = (Set(board.facts), Set(model.facts))
        differences += seen.subtracting(expected).sorted().map { "on the board only: \($0)" }
        differences += expected.subtracting(seen).sorted().map { "in the model only: \($0)" }
        differences += model.violations
        for id in OperationSource.ids {
            compare(try await self.board.status(JobID(id))?.timeless, model.status(id))
        }
        // Which of them holds what is among the facts: now and then the calls are asked, too.
        guard history.count.isMultiple(of: 8) else { return }
        for id in OperationSource.ids { try await lookClosely(id) }
        compare(try await self.board.workers().map(\.timeless), model.registered)
        let queue = try await self.board.queue(count: 100).jobs
        compare(queue.map(\.job.id.text), model.active + model.failed)
        let counts = try await self.board.jobCounts()
        let known = [model.active.count, model.failed.count, model.jobs.count]
        compare([counts.active, counts.failed, counts.all], known)
        compare(try await self.board.figures().timeless, model.figures)
        compare(try await BoardFixture.scannedFigures(self.board, raw).timeless, model.figures)
    }

    private mutating func lookClosely(_ id: String) async throws {
        compare(try await board.state(of: JobID(id)), model.jobs[id]?.state)
        compare(try await board.retries(JobID(id)), model.retries(id))
        compare(try await board.live(JobID(id)), model.live(id))
        // What a publisher left that died is not seen before the job has a plan.
        guard model.jobs[id]?.published.plan ?? 0 > 0 else { return }
        compare(try await board.recordedResults(JobID(id)), model.recordedResults(id))
        compare(try await board.results(JobID(id), at: [0, 2]), model.results(id, at: [0, 2]))
    }

    mutating func compare<Answer: Equatable>(_ answer: Answer, _ expected: Answer) {
        if answer != expected { differences.append("the board says \(answer)\nthe model says \(expected)") }
    }

    private func outcome<Answer>(_ body: () async throws -> Answer) async -> Outcome<Answer> {
        do { return .answer(try await body()) } catch { return Outcome(error) }
    }

    private func outcome<Answer>(_ body: () throws -> Answer) -> Outcome<Answer> {
        do { return .answer(try body()) } catch { return Outcome(error) }
    }
}

/// An answer, or what kind of refusal.
private enum Outcome<Answer: Equatable>: Equatable {
    case answer(Answer)
    case refused(ReelFailure.Kind?)

    init(_ error: any Error) { self = .refused((error as? ReelFailure)?.kind) }
}

extension WorkerStatus {
    /// Without what depends on the clock.
    fileprivate var timeless: WorkerStatus {
        var status = self
        (status.beatAge, status.holds) = (0, [:])
        return status
    }
}
