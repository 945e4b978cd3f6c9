internal import HeapModule
internal import ReelBoardModel
internal import ReelCore
internal import ReelQueue

/// Slots of equal machines that work on jobs of one submitter, in simulated time. The board is the model that the tests compare
/// with Redis, so that it decides here as it does there.
struct AdmissionSimulation {
    /// When jobs share the slots.
    enum Policy {
        /// As the board has it: about as many jobs as slots have begun.
        case admission
        /// All from the start, in turn.
        case breadthFirst
    }

    struct Job {
        /// Seconds of work of each pass, in the order in which they are given out, the sound first.
        var passes: [Double]
        /// Seconds for joining the segments once all are there.
        var assembly: Double
    }

    struct Outcome {
        /// When each job had its result (s), in the order in which they were submitted.
        var ends: [Double]
        /// The most jobs that had segments in the store at the same time.
        var unfinished = 0
    }

    private struct Event: Comparable {
        var time: Double
        var slot: Int

        static func < (a: Event, b: Event) -> Bool { (a.time, a.slot) < (b.time, b.slot) }
    }

    private let jobs: [Job]
    private var board = BoardModel()
    private var ends: [Double]
    private var events = Heap<Event>()
    /// What each slot works on.
    private var claims: [Claim?]
    /// Passes and the assembly of each job that are not finished.
    private var left: [Int]
    /// Slots whose assembly waits for the last pass, by job.
    private var waiting: [Int: Int] = [:]
    private var tokens = 0
    private var unfinished: Set<Int> = []
    private var mostUnfinished = 0

    /// All jobs are submitted at once, at time 0.
    init(_ jobs: [Job], slots: Int, policy: Policy) {
        self.jobs = jobs
        ends = jobs.map { _ in 0 }
        left = jobs.map { $0.passes.count + 1 }
        claims = Array(repeating: nil, count: slots)
        for (place, job) in jobs.enumerated() {
            let published = SampleJob.published("\(place)", passes: job.passes.count)
            let begun = board.begin(published, holder: "coordinator", token: nextToken())
            guard case .begun(let claim) = begun else { continue }
            _ = board.publish(published, finished: [:], claim: claim, paused: false)
            if policy == .breadthFirst { board.beginJob(published.id.text) }
        }
    }

    /// Simulates until all jobs have ended.
    mutating func run() throws -> Outcome {
        offer(at: 0)
        while let event = events.popMin() {
            board.tick()
            try finish(event.slot, at: event.time)
            offer(at: event.time)
        }
        guard left.allSatisfy({ $0 == 0 }) else { throw Trouble("jobs are left, and no slot works on them") }
        return Outcome(ends: ends, unfinished: mostUnfinished)
    }

    private mutating func nextToken() -> String {
        tokens += 1
        return String(tokens, radix: 16)
    }

    /// Has each slot without work claim some. What a slot finds also the next would, so that the first without ends it.
    private mutating func offer(at time: Double) {
        for slot in claims.indices where claims[slot] == nil {
            let offer = SampleJob.offer(WorkerID("\(slot)"))
            guard let claim = board.claim(offer, token: nextToken()), let job = Int(claim.job.text) else { return }
            claims[slot] = claim
            let work = claim.index < jobs[job].passes.count ? jobs[job].passes[claim.index] : jobs[job].assembly
            events.insert(Event(time: time + work, slot: slot))
        }
    }

    private mutating func finish(_ slot: Int, at time: Double) throws {
        guard let claim = claims[slot], let job = Int(claim.job.text) else { return }
        if claim.work == .assembly, left[job] > 1 {
            // It began before the last passes were finished.
            waiting[job] = slot
            return
        }
        let result = PassResult(segments: [], statistics: PassStatistics(), diagnostics: [])
        guard try board.complete(claim, result: result) == .ok else {
            throw Trouble("pass \(claim.index) of job \(job) was not recorded")
        }
        claims[slot] = nil
        left[job] -= 1
        if left[job] == 0 {
            ends[job] = time
            unfinished.remove(job)
        } else {
            unfinished.insert(job)
            mostUnfinished = max(mostUnfinished, unfinished.count)
        }
        if left[job] == 1, let assembling = waiting.removeValue(forKey: job) { try finish(assembling, at: time) }
    }
}
