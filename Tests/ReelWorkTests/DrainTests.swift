import ReelBoardModel
import ReelCore
import ReelJobs
import ReelQueue
import ReelWork
import Testing

@Suite struct DrainTests {
    private func withRunningPass(_ body: (WorkerFixture, StoredJob, RunningSlots) async throws -> Void) async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            worker.engines.answer { _ in .wait }
            let slots = worker.start()
            try await until { worker.engines.waiting == 1 }
            try await body(worker, job, slots)
            #expect(worker.engines.running == 0)
            #expect(worker.environment.passes.report == [])
            #expect(await worker.claimer.memoryReserved == 0)
        }
    }

    private func expectHandedBack(_ worker: WorkerFixture, _ job: StoredJob) async throws {
        let status = try await worker.status(job.id)
        #expect(status.passes == .init(ready: WorkerFixture.passes))
        #expect(status.failures == [])
        #expect(worker.log.lines.contains { $0.hasPrefix("hands back pass 0 of job \(job.id)") })
    }

    @Test func afterTheGraceAPassIsHandedBackUncharged() async throws {
        try await withRunningPass { worker, job, slots in
            worker.environment.drain.begin()
            try await until { worker.clock.sleepers == 1 }
            worker.clock.advance(by: WorkerFixture.grace - .milliseconds(1))
            #expect(worker.clock.sleepers == 1)
            #expect(try await worker.held(job.id) == [0])
            worker.clock.advance(by: .milliseconds(1))
            try await slots.end()
            try await expectHandedBack(worker, job)
        }
    }

    @Test func aPassThatEndsInTimeIsReported() async throws {
        try await withRunningPass { worker, job, slots in
            worker.environment.drain.begin()
            worker.engines.letGo()
            try await slots.end()
            let results = try await worker.board.results(job.id)
            #expect(results.mapValues(\.statistics.framesEncoded) == [0: 10])
            #expect(worker.engines.passes == [0])
        }
    }

    @Test func aSecondSignalEndsTheGrace() async throws {
        try await withRunningPass { worker, job, slots in
            worker.environment.drain.begin()
            worker.environment.drain.stopNow()
            try await slots.end()
            try await expectHandedBack(worker, job)
        }
    }

    @Test func aWaitEndsWithTheDrain() async throws {
        try await withWorker { worker in
            let drain = worker.environment.drain
            let whole = Task { await drain.staysOff(for: .seconds(60)) }
            try await until { worker.clock.sleepers == 1 }
            worker.clock.advance(by: .seconds(60))
            #expect(await whole.value)
            let cut = Task { await drain.staysOff(for: .seconds(60)) }
            try await until { worker.clock.sleepers == 1 }
            drain.begin()
            #expect(await !cut.value)
            #expect(await !drain.staysOff(for: .seconds(60)))
        }
    }
}
