import ReelBoardModel
import ReelCore
import ReelJobs
import ReelQueue
import ReelWork
import Testing

@Suite struct HeartbeatTests {
    /// Runs the body while a slot's engine is at a pass.
    private func withRunningPass(_ body: (WorkerFixture, StoredJob) async throws -> Void) async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            worker.engines.answer { _ in .wait }
            let slots = worker.start()
            try await until { worker.engines.waiting == 1 }
            try await body(worker, job)
            worker.environment.drain.stopNow()
            try await slots.end()
            #expect(worker.engines.running == 0)
            #expect(worker.environment.passes.report == [])
            #expect(await worker.claimer.memoryReserved == 0)
        }
    }

    @Test func aBeatRenewsTheLeaseAndTellsTheProgress() async throws {
        try await withRunningPass { worker, job in
            await worker.board.lapse(job.id)
            await worker.heartbeat.beat()
            #expect(try await worker.board.reap() == 0)
            let status = try await worker.status(job.id)
            #expect(status.framesDecoded == 3)
            #expect(status.framesEncoded == 2)
            #expect(worker.engines.waiting == 1)
        }
    }

    @Test func aPassThatIsLostIsStopped() async throws {
        try await withRunningPass { worker, job in
            worker.engines.answer { _ in .result }
            await worker.board.lapse(job.id)
            #expect(try await worker.board.reap() == 1)
            let other = try await worker.another("w2")
            #expect(await other.claimer.take()?.claim.index == 0)
            await worker.heartbeat.beat()
            try await until { worker.log.lines.contains { $0.hasPrefix("lost pass 0 of job \(job.id)") } }
            // The lapse was charged by the board, and nothing by the worker.
            #expect(await worker.board.calls["fail"] == nil)
            #expect(try await worker.status(job.id).failures.map(\.attempts) == [["lost": 1]])
        }
    }

    @Test func aCancelledPassIsStopped() async throws {
        try await withRunningPass { worker, job in
            #expect(try await worker.board.cancel(job.id))
            await worker.heartbeat.beat()
            try await until { worker.log.lines.contains { $0.hasPrefix("stopped pass 0 of job \(job.id)") } }
            #expect(await worker.board.calls["fail"] == nil)
            #expect(await worker.board.calls["release"] == nil)
        }
    }

    @Test func aDrainedWorkerGoesOnWithItsPassAndWaits() async throws {
        try await withRunningPass { worker, job in
            #expect(try await worker.board.drain(.host, "host of w1"))
            await worker.heartbeat.beat()
            await worker.heartbeat.beat()
            #expect(worker.environment.drain.byUser == .host)
            #expect(!worker.environment.drain.isOn)
            #expect(worker.engines.waiting == 1)
            let claims = await worker.board.calls["claim"]
            worker.engines.answer { _ in .result }
            worker.engines.letGo()
            try await until { try await worker.status(job.id).passes.done == 1 }
            try await until { worker.environment.passes.report.isEmpty }
            #expect(await worker.board.calls["claim"] == claims)

            #expect(try await worker.board.undrain(.host, "host of w1"))
            await worker.heartbeat.beat()
            try await until { try await worker.status(job.id).state == .done }
            let told = worker.log.lines.filter { $0.hasPrefix("claims") }
            #expect(told == ["claims nothing: its host is drained", "claims again: it is no longer drained"])
        }
    }

    @Test func aBeatThatDoesNotArriveStopsNothing() async throws {
        try await withRunningPass { worker, _ in
            await worker.board.setOutage(ModelBoard.unreachable)
            await worker.heartbeat.beat()
            #expect(worker.environment.passes.report.count == 1)
            #expect(worker.engines.waiting == 1)
            await worker.board.setOutage(nil)
        }
    }

    @Test func theBoardKnowsWhatTheWorkerTells() async throws {
        try await withWorker { worker in
            worker.environment.notes.slotLeaves()
            await worker.heartbeat.beat()
            let report = try #require(try await worker.board.workers().first).report
            #expect(report.slotsOut == 1)
            #expect(report.notes == [.workerSlotsOut(slots: 1, jobs: 3)])
        }
    }
}
