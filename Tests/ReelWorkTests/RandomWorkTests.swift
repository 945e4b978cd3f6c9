import ReelBoardModel
import ReelCore
import ReelEngine
import ReelJobs
import ReelQueue
import ReelRandom
import ReelStore
import ReelWork
import Synchronization
import Testing

/// Several slots over several jobs, while engines fail, leases lapse, replies are lost and workers drain.
@Suite struct RandomWorkTests {
    private static let slots = 3

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func everyPassEndsDoneOnce(_ seed: UInt64) async throws {
        try await withWorker(clockRunsFreely: true) { first in
            var random = SplitMix64(seed: seed)
            var jobs: [StoredJob] = []
            for quality in [20.0, 21, 22].prefix(Int.random(in: 1...3, using: &random)) {
                jobs.append(try await first.publish(quality: quality))
            }
            let faults = RandomFaults(seed: seed)
            first.engines.answer { faults.answer($0) }
            let need = try #require(jobs.first).plan.need
            var number = 1
            var ended = false
            while !ended {
                number += 1
                let memory = 2 * need + Int64.random(in: 0..<need, using: &random)
                let worker = try await first.another("w\(number)", memory: memory, clockRunsFreely: true)
                ended = try await disturb(worker, jobs, memory: memory, using: &random)
            }
            for job in jobs {
                let status = try #require(try await first.board.status(job.id))
                #expect(status.passes.done == 4)
                // They are trimmed unless the worker that assembled the job was killed before.
                let results = try await first.board.recordedResults(job.id).keys.sorted()
                #expect(results == [] || results == [0, 1, 2, 3, 4])
                #expect(try await job.entry.read().state == .done)
                try #require(await job.entry.result).verify()
                for index in 0...4 { #expect(await first.board.recorded["\(job.id)/\(index)"] == 1) }
            }
            // The memory of a worker is that of two passes.
            #expect(first.engines.mostWorking <= 2)
            #expect(await first.board.model.violations == [])
        }
    }

    /// The life of one worker. Returns whether all jobs have ended.
    private func disturb(
        _ worker: WorkerFixture, _ jobs: [StoredJob], memory: Int64, using random: inout SplitMix64
    ) async throws -> Bool {
        let slots = worker.start(slots: RandomWorkTests.slots)
        let life = Int.random(in: 20...60, using: &random)
        var (step, ended) = (0, false)
        while step < life, !ended {
            step += 1
            let job = jobs[Int.random(in: 0..<jobs.count, using: &random)].id
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<30: await worker.heartbeat.beat()
            case 30..<40:
                await worker.board.lapse(job)
                await Reaper(worker.environment).reap()
            case 40..<60: await worker.board.fallDue(job)
            case 60..<68: await worker.board.loseReplies(Int.random(in: 1...2, using: &random))
            case 68..<74:
                await worker.board.setOutage(ModelBoard.unreachable)
                await Task.yield()
                await worker.board.setOutage(nil)
            default: worker.engines.letGo()
            }
            #expect(await worker.claimer.memoryReserved <= memory)
            for _ in 0..<20 { await Task.yield() }
            ended = try await haveEnded(jobs, on: worker.board)
        }
        if Bool.random(using: &random) { worker.environment.drain.begin() }
        worker.environment.drain.stopNow()
        try await slots.end()
        #expect(worker.environment.passes.report == [])
        #expect(await worker.claimer.memoryReserved == 0)
        await worker.board.loseReplies(0)
        for job in jobs {
            // What was claimed by a call whose reply was lost is held until its lease lapses.
            await worker.board.lapse(job.id)
            await Reaper(worker.environment).reap()
            await worker.board.fallDue(job.id)
            #expect(try await worker.held(job.id) == [])
        }
        return try await haveEnded(jobs, on: worker.board)
    }

    private func haveEnded(_ jobs: [StoredJob], on board: ModelBoard) async throws -> Bool {
        for job in jobs {
            // The next replies may be lost, so this look is not a call.
            guard await board.model.jobs[job.id.text]?.state == .done else { return false }
        }
        return true
    }
}

/// Failures of engines: two at most for each pass, so that no job fails.
private final class RandomFaults: Sendable {
    private struct State {
        var random: SplitMix64
        var faults: [String: Int] = [:]
    }

    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SplitMix64(seed: seed ^ 0xF00D))) }

    func answer(_ request: EngineRequest) -> FakeEngines.Answer {
        let place: String
        switch request {
        case .reverse(let pass), .reverseAudio(let pass): place = "\(pass.job.plan) \(pass.pass)"
        case .assemble(let assembly): place = "\(assembly.job.plan)"
        case .recon, .choose, .pictures: return .result
        }
        return state.withLock { state in
            let draw = Int.random(in: 0..<10, using: &state.random)
            guard draw < 5, state.faults[place, default: 0] < 2 else { return draw < 7 ? .wait : .result }
            state.faults[place, default: 0] += 1
            return draw < 2 ? .crash : .failure(.of(.transient))
        }
    }
}
