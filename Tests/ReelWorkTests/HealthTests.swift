import ReelBoardModel
import ReelCore
import ReelJobs
import ReelQueue
import ReelWork
import Testing

/// What programs that watch a worker are told.
@Suite struct HealthTests {
    private func health(_ worker: WorkerFixture) -> WorkerHealth {
        worker.environment.health(slots: 2, memoryTotal: WorkerFixture.memory)
    }

    /// Runs the body with a worker that has reached Redis and the store.
    private func withReadyWorker(_ body: (WorkerFixture) async throws -> Void) async throws {
        try await withWorker { worker in
            worker.environment.notes.begin()
            await worker.heartbeat.beat()
            await StoreWatch(worker.environment).look()
            try #require(health(worker).obstacles == [])
            try await body(worker)
        }
    }

    @Test func aWorkerThatHasReachedNothingIsAliveAndTakesNoWork() async throws {
        try await withWorker { worker in
            let health = health(worker)
            #expect(health.isAlive && !health.isRedisUp && !health.isStoreUp)
            #expect(health.obstacles == [.starting, .redisUnreachable, .storeUnusable])
            #expect(health.memoryTotal == WorkerFixture.memory)
        }
    }

    @Test func slotsAreBusyFreeOrOut() async throws {
        try await withReadyWorker { worker in
            #expect(health(worker).slots == .init(free: 2))
            _ = try await worker.publish()
            worker.engines.answer { _ in .wait }
            let slots = worker.start()
            try await until { worker.engines.waiting == 1 }
            #expect(health(worker).slots == .init(busy: 1, free: 1))
            worker.environment.notes.slotLeaves()
            #expect(health(worker).slots == .init(busy: 1, out: 1))
            #expect(health(worker).obstacles == [])
            worker.environment.drain.stopNow()
            try await slots.end()
        }
    }

    @Test func eachObstacleIsNamedWhileItLasts() async throws {
        try await withReadyWorker { worker in
            let notes = worker.environment.notes
            await worker.board.setOutage(ModelBoard.unreachable)
            await worker.heartbeat.beat()
            #expect(health(worker).obstacles == [.redisUnreachable])
            await worker.board.setOutage(nil)
            let isDrained = try await worker.board.drain(.worker, "\(worker.worker)")
            #expect(isDrained)
            await worker.heartbeat.beat()
            #expect(health(worker).obstacles == [.drained])
            #expect(health(worker).slots == .init(drained: 2))
            let isUndrained = try await worker.board.undrain(.worker, "\(worker.worker)")
            #expect(isUndrained)
            await worker.heartbeat.beat()
            #expect(health(worker).obstacles == [])
            notes.setFull(["store"])
            #expect(health(worker).obstacles == [.diskFull])
            notes.setFull(nil)
            #expect(notes.setStoreFailure(ReelFailure(.storeMissing(path: "store"))))
            #expect(health(worker).obstacles == [.storeUnusable])
            #expect(notes.setStoreFailure(nil))
            notes.slotLeaves()
            notes.slotLeaves()
            #expect(health(worker).obstacles == [.slotsOut])
            notes.slotReturns()
            worker.environment.drain.begin()
            #expect(health(worker).obstacles == [.ending])
            #expect(health(worker).slots == .init(out: 1, drained: 1))
        }
    }

    @Test func aLoopThatGivesNoSignForAMinuteIsNotAlive() async throws {
        try await withReadyWorker { worker in
            worker.environment.notes.giveSign()
            worker.clock.advance(by: .milliseconds(59_999))
            #expect(health(worker).isAlive)
            worker.clock.advance(by: .milliseconds(1))
            #expect(!health(worker).isAlive)
            // So long no look at the store has come back, either.
            #expect(health(worker).obstacles == [.storeUnusable])
            worker.environment.notes.giveSign()
            await StoreWatch(worker.environment).look()
            #expect(health(worker).isAlive)
            #expect(health(worker).obstacles == [])
        }
    }

    @Test func finishedAttemptsAreCounted() async throws {
        try await withWorker { worker in
            #expect(Set(health(worker).attempts.keys) == Set(BoardFigures.Attempt.allCases))
            let job = try await worker.publish()
            try await worker.workToEnd(of: job.id)
            // The passes and the assembly.
            #expect(health(worker).attempts.filter { $0.value > 0 } == [.done: WorkerFixture.passes + 1])
        }
    }

    @Test func failedAttemptsAreCountedByTheirCause() async throws {
        try await withWorker { worker in
            _ = try await worker.publish()
            worker.engines.answer { request in request.pass == 0 ? .crash : .wait }
            try await worker.work { await worker.board.calls["fail"] == 1 }
            let attempts = health(worker).attempts
            #expect(attempts[.failed(.crash)] == 1)
            #expect(attempts[.done] == 0)
        }
    }
}
