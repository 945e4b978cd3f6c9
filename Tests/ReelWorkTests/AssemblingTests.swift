import ReelBoardModel
import ReelCore
import ReelEngine
import ReelJobs
import ReelQueue
import ReelStore
import ReelWork
import Testing

/// An assembly that begins while another slot still works at the last pass.
@Suite struct AssemblingTests {
    private func withEarlyAssembly(_ body: (WorkerFixture, StoredJob) async throws -> Void) async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            worker.engines.answer { $0.pass == 3 ? .wait : .result }
            let slots = worker.start(slots: 2)
            try await until { worker.engines.assemblies == 1 && worker.engines.waiting == 1 }
            // The assembly waits for the last segment, and looks for it after a pause.
            try await until { worker.clock.sleepers == 1 }
            #expect(try await worker.held(job.id) == [3, 4])
            try await body(worker, job)
            worker.environment.drain.stopNow()
            try await slots.end()
            #expect(await worker.claimer.memoryReserved == 0)
        }
    }

    @Test func itEndsWhenTheLastPassDoes() async throws {
        try await withEarlyAssembly { worker, job in
            worker.engines.letGo()
            try await until { try await worker.board.results(job.id).count == 4 }
            worker.clock.advance(by: .milliseconds(200))
            try await until { try await worker.board.state(of: job.id) == .done }
            #expect(worker.engines.assemblies == 1)
        }
    }

    /// The slot that waits could do the pass.
    @Test func itIsHandedBackUnchargedIfThePassWaitsForAnotherAttempt() async throws {
        try await withEarlyAssembly { worker, job in
            let claim = try #require(worker.environment.passes.report.first { $0.index == 3 })
            let held = Claim(job: job.id, index: 3, work: .video, token: claim.token, need: job.plan.need, plan: 1)
            _ = try await worker.board.fail(held, worker: worker.worker, failure: .of(.transient))
            worker.clock.advance(by: .milliseconds(200))
            try await until { worker.log.lines.contains { $0.hasPrefix("hands back assembly of job \(job.id)") } }
            let status = try await worker.status(job.id)
            #expect(status.failures.map(\.index) == [3])
            #expect(try await worker.held(job.id) == [])
        }
    }

    /// The slot that waits could work at another job.
    @Test func itIsHandedBackUnchargedIfTheJobIsPaused() async throws {
        try await withEarlyAssembly { worker, job in
            _ = try await worker.board.pause(job.id)
            worker.clock.advance(by: .milliseconds(200))
            try await until { worker.log.lines.contains { $0.hasPrefix("hands back assembly of job \(job.id)") } }
            #expect(try await worker.held(job.id) == [3])
            #expect(try await worker.status(job.id).failures == [])
        }
    }
}
