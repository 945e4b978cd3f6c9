internal import ReelCore
internal import ReelQueue

extension BoardBench {
    /// The two figures that reel's board is measured by, without tables: what a fleet gets done that never pauses, and how
    /// long its slowest kind of call takes for all but one in a hundred while each worker is busy with passes of a second.
    func figures(workers: Int) async throws -> (callsPerSecond: Double, p99: Double) {
        let board = RedisBoard(address, name: "coordinator")
        for number in 0..<jobs {
            try await board.put(SampleJob.published("film-\(number)", passes: passes))
        }
        let rushing = try await fleet(workers)
        let began = ContinuousClock.now
        let end = began + .seconds(seconds)
        let rush = try await all(rushing) { try await $0.rush(until: end) }.reduce(CallLog(), +)
        let took = (ContinuousClock.now - began) / .seconds(1)

        let working = try await fleet(workers, claiming: true)
        let start = ContinuousClock.now
        let log = try await all(working) { worker in
            let log = try await worker.work(pass: .seconds(1), from: start, until: start + .seconds(seconds))
            try await worker.release()
            return log
        }.reduce(CallLog(), +)
        let slowest = [log.claim, log.beat, log.complete].map { $0.quantile(0.99) }.max() ?? 0
        return (Double(rush.calls) / took, slowest)
    }
}
