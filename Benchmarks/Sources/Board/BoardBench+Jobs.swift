internal import Foundation
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelRandom

// Many jobs of mixed sizes on one board.
extension BoardBench {
    /// Begun at once: as many as slots are at work.
    private static let slots = 1000
    /// Jobs for half of the slots that weigh three times as much as the others, and are so large that none of them
    /// ends meanwhile.
    private static let heavy = (jobs: slots / 2, passes: 700, weight: 3.0)
    private static let owners = 20
    private static let claims = 5000

    func manyJobs() async throws {
        let board = RedisBoard(address, name: "coordinator")
        try probe.clear()
        try probe.setRewriting(false)
        let before = try probe.read()
        let (passes, took) = try await publishMixed(board)
        let published = try probe.read()
        heading(
            "Many jobs", "a call", "p50", "p99",
            note: "\(jobs) jobs of \(BoardBench.owners) submitters, with 1 to 700 passes (\(passes) in all), published "
                + String(format: "in %.1f s. ", took) + "One client, one call after another.")

        let worker = WorkerID("host-1-10001-5f3a")
        let working = RedisBoard(address, name: "worker")
        _ = try await working.beat(SampleJob.report(worker, holding: nil, encoded: 0))
        var beginning = Latencies()
        var held: [Claim] = []
        for _ in 0..<min(BoardBench.slots, jobs) {
            held.append(try await claim(worker, on: working, into: &beginning))
        }
        latencyRow("claim that begins a job, \(held.count) times", beginning)

        var (claiming, completing, heavyClaims) = (Latencies(), Latencies(), 0)
        // The stream of events grows up to its limit during the first half.
        var (begun, readings) = (0, [try probe.read()])
        for half in 0..<2 {
            for number in 0..<BoardBench.claims {
                let oldest = held.removeFirst()
                let began = ContinuousClock.now
                let answer = try await working.complete(oldest, worker: worker, result: SampleJob.result(of: oldest))
                completing.add(ContinuousClock.now - began)
                guard answer == .ok else { throw Trouble("\(oldest.job) answered \(answer)") }
                let next = try await claim(worker, on: working, into: &claiming)
                held.append(next)
                if next.job.text.hasPrefix("heavy") { heavyClaims += 1 }
                if half == 1, number == 0 { begun = try probe.count("reel2:{main}:begun") }
            }
            readings.append(try probe.read())
        }
        latencyRow("claim, \(begun) jobs begun", claiming)
        latencyRow("complete", completing)

        let address = address
        try await look(JobService(store: nil) { RedisBoard(address, name: "reader") })

        heading("What a job takes", "", "in Redis's memory", "in the append-only file", note: nil)
        row(
            "a job that waits", "\((published.memory - before.memory) / jobs) bytes",
            "\((published.log - before.log) / jobs) bytes")
        row(
            "a finished pass of it", "\((readings[2].memory - readings[1].memory) / BoardBench.claims) bytes more",
            "\((readings[2].log - readings[1].log) / BoardBench.claims) bytes more")
        let share = 100 * Double(heavyClaims) / Double(2 * BoardBench.claims)
        print(
            "\nOf \(2 * BoardBench.claims) claims, the \(BoardBench.heavy.jobs) jobs of weight 3 beside as many of "
                + "weight 1 got \(String(format: "%.0f", share)) %; 75 % would be exact.")
        try probe.setRewriting(true)
    }

    /// What people and programs ask for, with the same work that their commands and requests have, without a store.
    private func look(_ service: JobService) async throws {
        try await reading("`metrics`", 50) { _ = try await service.metrics() }
        try await reading("`queue`", 30) { _ = try await service.queue() }
        try await reading("`status`, which lists all jobs that have not ended", 3) { _ = try await service.jobs() }
        try await reading("`GET jobs`, a page of 100", 30) { _ = try await service.page(count: 100) }
        try await reading("a page of 25 running jobs", 30) {
            _ = try await service.page(JobFilter(states: [.running]), count: 25)
        }
        try await reading("how many jobs a submitter has", 50) { _ = try await service.unfinishedJobs(of: "owner-3") }
    }

    /// Publishes all jobs; returns their passes, and the seconds that this took.
    private func publishMixed(_ board: RedisBoard) async throws -> (passes: Int, seconds: Double) {
        var random = SplitMix64(seed: 51)
        var passes = 0
        let began = ContinuousClock.now
        for number in 0..<jobs {
            let isHeavy = number < min(BoardBench.heavy.jobs, jobs / 2)
            // As many jobs have 1 to 10 passes as have 10 to 100.
            let count = isHeavy ? BoardBench.heavy.passes : Int(exp(Double.random(in: 0...log(700), using: &random)))
            var job = SampleJob.published("\(isHeavy ? "heavy" : "job")-\(number)", passes: count)
            if isHeavy { job.weight = BoardBench.heavy.weight }
            guard case .begun(let claim) = try await board.begin(job, holder: WorkerID("coordinator")) else {
                throw Trouble("job \(job.id) is there already")
            }
            let submitter = "owner-\(number % BoardBench.owners)@host"
            try await board.describe(job.id, #"{"name":"\#(job.id)","labels":{},"submitter":"\#(submitter)"}"#)
            _ = try await board.publish(job, claim: claim)
            passes += count
        }
        return (passes, (ContinuousClock.now - began) / .seconds(1))
    }

    private func claim(
        _ worker: WorkerID, on board: RedisBoard, into latencies: inout Latencies
    ) async throws -> Claim {
        let began = ContinuousClock.now
        let claim = try await board.claim(SampleJob.offer(worker))
        latencies.add(ContinuousClock.now - began)
        guard let claim else { throw Trouble("there is nothing left to claim") }
        return claim
    }

    private func latencyRow(_ name: String, _ latencies: Latencies) {
        row(name, milliseconds(latencies.quantile(0.5)), milliseconds(latencies.quantile(0.99)))
    }
}
