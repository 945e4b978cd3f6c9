internal import Foundation
internal import ReelCore
internal import ReelQueue

/// What is measured, a table each.
struct BoardBench {
    let address: RedisAddress
    let probe: RedisProbe
    let jobs: Int
    let passes: Int
    let seconds: Int

    private let clock = ContinuousClock()

    private static let legend =
        "Median (and p99) of each call, as its caller sees it; a function's mean time inside Redis; processor time of the "
        + "clients, of Redis and of whatever else the machine did meanwhile, where 100 % is one core."

    // MARK: One thing at a time

    /// From publishing to the first claim, by a worker that waits.
    func firstClaim() async throws {
        heading(
            "From publishing to the first claim", "passes of the job", "published after", "first claim after",
            note: "A worker waits for work on an otherwise empty board. Median (and slowest) of 20 jobs.")
        for count in [100, 1000, 10_000] {
            var (publishing, claiming) = (Latencies(), Latencies())
            for round in 0..<20 {
                try probe.clear()
                let worker = WaitingWorker(address)
                try await worker.claimNothing()
                let claimed = Task { try await worker.waitForClaim() }
                let board = RedisBoard(address, name: "coordinator")
                try await board.ping()
                let job = SampleJob.published("job-\(round)", passes: count)
                let began = clock.now
                try await board.put(job)
                publishing.add(clock.now - began)
                claiming.add(try await claimed.value - began)
            }
            row(String(count), spread(publishing, worst: 1), spread(claiming, worst: 1))
        }
    }

    /// The board's calls by commands, while every worker holds a pass.
    func readings(workers: Int) async throws {
        try probe.clear()
        let (large, count) = (JobID("large"), 100_000)
        let board = RedisBoard(address, name: "coordinator")
        try await board.put(SampleJob.published(large.text, passes: count))
        let fleet = try await self.fleet(workers)
        let end = clock.now + .seconds(seconds)
        _ = try await all(fleet) { try await $0.rush(until: end) }
        try await all(fleet) { try await $0.claim() }
        for number in 1..<100 {
            let small = SampleJob.published("small-\(number)", passes: 100)
            try await board.put(small)
        }
        guard let status = try await board.status(large) else { throw Trouble("the job has vanished") }
        heading(
            "Reading", "what", "p50", "p99",
            note: "One job of \(count) passes, \(status.passes.done) of them finished and \(status.passes.live) in "
                + "flight; 99 small jobs; \(workers) workers. Nothing else asks meanwhile.")
        try await reading("status of the large job", 200) { _ = try await board.status(large) }
        try await reading("its passes at a glance, 100 cells", 200) { _ = try await board.strip(large, cells: 100) }
        try await reading("the queue: 100 jobs, and the pace", 100) {
            _ = try await board.queue(count: 100).jobs
            _ = try await board.pace()
        }
        try await reading("all workers", 50) { _ = try await board.workers() }
        try await all(fleet) { try await $0.release() }
        try await reading("cancel, once", 1) { _ = try await board.cancel(large) }
        try await reading("forget, once", 1) { try await board.forget(large) }
    }

    func reading(_ name: String, _ times: Int, _ call: () async throws -> Void) async throws {
        var latencies = Latencies()
        for _ in 0..<times {
            let began = clock.now
            try await call()
            latencies.add(clock.now - began)
        }
        row(name, milliseconds(latencies.quantile(0.5)), milliseconds(latencies.quantile(0.99)))
    }

    /// Publishes all jobs.
    func publish() async throws {
        try probe.clear()
        try probe.setRewriting(false)
        let board = RedisBoard(address, name: "coordinator")
        let before = try probe.read()
        let began = clock.now
        for number in 0..<jobs {
            try await board.put(SampleJob.published("film-\(number)", passes: passes))
        }
        let took = clock.now - began
        let after = try probe.read()
        let count = jobs * passes
        heading("Memory", "a pass that is", "in Redis's memory", "in the append-only file", note: nil)
        row(
            "published (\(jobs) × \(passes) in \(String(format: "%.1f", took / .seconds(1))) s)",
            "\((after.memory - before.memory) / count) bytes", "\((after.log - before.log) / count) bytes")
    }

    /// Measures what single calls cost Redis, and the bytes that a pass leaves; returns how many passes were recorded.
    func costs() async throws -> Int {
        let count = min(4000, jobs * passes / 4)
        // The stream of events grows up to its limit.
        _ = try await lives(count)
        let readings = try await lives(count)
        try probe.setRewriting(true)
        let whole = zip(readings, readings.dropFirst()).map { (from: $0, to: $1) }
        let (start, end) = (whole[0].from, whole[2].to)
        row(
            "finished", "\((end.memory - start.memory) / count) bytes more",
            "\((end.log - start.log) / count) bytes more, with one beat")

        heading(
            "What a call costs", "call", "function", "Redis in all", "client in all", "append-only file",
            note:
                "Processor time; one client, one call after another. *Function* is the time that Redis counts for it, *in all* is "
                + "with reading, answering and writing the log.")
        for (name, (from, to)) in zip(["claim", "beat", "complete"], whole) {
            func each(_ seconds: Double) -> String { String(format: "%.0f µs", seconds * 1e6 / Double(count)) }
            row(
                name, each(to.scriptTime - from.scriptTime), each(to.cpu - from.cpu), each(to.ownCPU - from.ownCPU),
                "\((to.log - from.log) / count) bytes")
        }
        return 2 * count
    }

    /// Claims some passes, beats for each, completes each: what Redis tells before and after each of the three.
    private func lives(_ count: Int) async throws -> [RedisProbe.Reading] {
        let board = RedisBoard(address, name: "worker")
        let worker = WorkerID("host-1-10001-5f3a")
        var readings = [try probe.read()]
        var claims: [Claim] = []
        while claims.count < count, let claim = try await board.claim(SampleJob.offer(worker)) { claims.append(claim) }
        readings.append(try probe.read())
        for claim in claims {
            _ = try await board.beat(SampleJob.report(worker, holding: claim, encoded: 96))
        }
        readings.append(try probe.read())
        for claim in claims {
            _ = try await board.complete(claim, worker: worker, result: SampleJob.result(of: claim))
        }
        return readings + [try probe.read()]
    }

    // MARK: Fleets

    /// Several numbers of workers at full speed; returns how many passes were recorded.
    func rush(_ sizes: [Int]) async throws -> Int {
        fleetHeading(
            "As fast as it goes", "workers", "calls a second",
            note:
                "Workers whose passes take no time: claim, beat, complete and again. Each call waits for those of all "
                + "others: its latency is workers ÷ calls a second, whatever Redis does. \(BoardBench.legend)")
        var recorded = 0
        for size in sizes {
            let fleet = try await self.fleet(size)
            let before = try probe.read()
            let end = clock.now + .seconds(seconds)
            let log = try await all(fleet) { try await $0.rush(until: end) }.reduce(CallLog(), +)
            recorded += log.completed
            fleetRow(String(size), log, before, try probe.read())
        }
        return recorded
    }

    /// Passes that take a while.
    func paced(workers: Int, passes: [Double]) async throws -> Int {
        fleetHeading(
            "At a pace", "a pass takes", "planned", "made",
            note:
                "\(workers) workers, a beat every 5 s and a reap every 3 s each, a claim and a complete for every pass."
        )
        var recorded = 0
        for length in passes {
            let fleet = try await self.fleet(workers, claiming: true)
            let before = try probe.read()
            let start = clock.now
            let end = start + .seconds(seconds)
            let log = try await all(fleet) { worker in
                let log = try await worker.work(pass: .seconds(length), from: start, until: end)
                try await worker.release()
                return log
            }.reduce(CallLog(), +)
            recorded += log.completed
            let planned = Double(workers) * (2 / length + 1.0 / 5 + 1.0 / 3)
            fleetRow(String(format: "%g s | %.0f", length, planned), log, before, try probe.read())
        }
        return recorded
    }

    /// A fleet that has nothing to do.
    func idle(workers: Int) async throws {
        try probe.clear()
        let fleet = try await self.fleet(workers)
        let before = try probe.read()
        let end = clock.now + .seconds(seconds)
        let log = try await all(fleet) { try await $0.idle(until: end) }.reduce(CallLog(), +)
        fleetRow("nothing to do | \(workers)", log, before, try probe.read())
    }

    /// Compares the number of passes that the board recorded with the replies that the workers got.
    func check(_ recorded: Int) async throws {
        let board = RedisBoard(address, name: "coordinator")
        let found = try await board.latestJobs(ended: 50).jobs.reduce(0) { $0 + $1.passes.done }
        guard found == recorded else { throw Trouble("\(recorded) passes were recorded, but the board has \(found)") }
    }

    func fleet(_ size: Int, claiming: Bool = false) async throws -> [SimulatedWorker] {
        let fleet = (0..<size).map { SimulatedWorker(address, number: $0) }
        try await all(fleet) { try await $0.prepare(claiming: claiming) }
        return fleet
    }

    @discardableResult
    func all<Result: Sendable>(
        _ fleet: [SimulatedWorker], _ work: @escaping @Sendable (SimulatedWorker) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: Result.self) { group in
            for worker in fleet { group.addTask { try await work(worker) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
