import Foundation
import ReelBoardModel
import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
import ReelWork
import Testing

@Suite struct ClaimingTests {
    @Test func asManyPassesAreClaimedAsFit() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            let claimer = worker.claimer(memoryTotal: 3 * job.plan.need - 1)
            let first = try #require(await claimer.take())
            #expect(first.claim.index == 0)
            #expect(await claimer.take()?.claim.index == 1)
            #expect(await claimer.take()?.claim == nil)
            #expect(await claimer.memoryReserved == 2 * job.plan.need)
            await claimer.release(first.claim)
            #expect(await claimer.take()?.claim.index == 2)
            #expect(try await worker.held(job.id) == [0, 1, 2])
        }
    }

    @Test func slotsTakeTurns() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            let claimer = worker.claimer(memoryTotal: 2 * job.plan.need)
            let claimed = await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<6 { group.addTask { await claimer.take()?.claim.index } }
                return await group.reduce(into: [Int?]()) { $0.append($1) }
            }
            #expect(claimed.compactMap(\.self).sorted() == [0, 1])
            #expect(claimed.count == 6)
            #expect(await claimer.memoryReserved == 2 * job.plan.need)
        }
    }

    /// Idle slots would have to start an engine for the assembly, and the slot that reports has one.
    @Test func idleSlotsWaitWhileAnotherReports() async throws {
        try await withWorker { worker in
            _ = try await worker.publish()
            await worker.claimer.holdIdleSlots()
            let idle = Task { await worker.claimer.next()?.claim.index }
            try await until { await worker.board.calls["waitForWork"] ?? 0 > 0 }
            #expect(await worker.board.calls["claim"] == nil)
            #expect(await worker.claimer.take()?.claim.index == 0)
            await worker.claimer.admitIdleSlots()
            #expect(await idle.value == 1)
        }
    }

    @Test func anIdleSlotClaimsWhenThereIsWork() async throws {
        try await withWorker { worker in
            let idle = Task { await worker.claimer.next()?.claim.index }
            try await until { await worker.board.calls["waitForWork"] ?? 0 > 0 }
            _ = try await worker.publish()
            #expect(await idle.value == 0)
        }
    }

    @Test func aFullDiskStopsClaimsForAMinute() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            await worker.claimer.host.heed(.of(.noSpace), in: job.id)
            #expect(await worker.claimer.take()?.claim == nil)
            let folders = [worker.store.name, worker.environment.scratch]
            #expect(worker.environment.notes.diagnostics == [.workerDiskFull(folders: folders)])
            #expect(await worker.board.calls["claim"] == nil)
            worker.clock.advance(by: .seconds(61))
            #expect(await worker.claimer.take()?.claim.index == 0)
            #expect(worker.environment.notes.diagnostics == [])
        }
    }

    @Test func aStoreThatCannotBeWrittenStopsClaims() async throws {
        try await withWorker(store: .folder) { worker in
            let job = try await worker.publish()
            let files = FileManager.default
            let (store, away) = (worker.store.name, worker.store.name + ".away")
            try files.moveItem(atPath: store, toPath: away)
            await worker.claimer.host.heed(WorkerFixture.storeFailure, in: job.id)
            #expect(await worker.claimer.take()?.claim == nil)
            #expect(worker.environment.notes.diagnostics.map(\.code) == ["worker-store-unusable"])
            #expect(await worker.board.calls["claim"] == nil)
            try files.moveItem(atPath: away, toPath: store)
            #expect(await worker.claimer.take()?.claim.index == 0)
            #expect(worker.environment.notes.diagnostics == [])
        }
    }

    /// What happens again and again while the store can be written is the fault of the job's folder.
    @Test func aWorkerReturnsFiveTimesToAJobThatExcludedIt() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            try await worker.board.register(WorkerID("w2"), host: "another", memory: WorkerFixture.memory)
            for _ in 0...5 {
                let work = try #require(await worker.claimer.take())
                let failure = WorkerFixture.storeFailure
                #expect(try await worker.board.fail(work.claim, worker: worker.worker, failure: failure) == .retry)
                await worker.claimer.host.heed(failure, in: job.id)
                await worker.claimer.release(work.claim)
            }
            #expect(await worker.claimer.take()?.claim == nil)
            #expect(try await worker.status(job.id).excluded.keys.sorted() == ["w1"])
            #expect(await worker.board.calls["readmit"] == 5)
        }
    }

    @Test func aJobThatOnlyTheStoreKnowsAsCancelledIsCancelled() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            try await worker.change(job) { $0.state = .cancelled }
            #expect(await worker.claimer.take()?.claim == nil)
            #expect(try await worker.board.state(of: job.id) == .cancelled)
            #expect(await worker.claimer.memoryReserved == 0)
        }
    }

    @Test func aJobThatOnlyTheStoreKnowsAsPausedIsPaused() async throws {
        try await withWorker { worker in
            let job = try await worker.publish()
            try await worker.change(job) { $0.paused = true }
            #expect(await worker.claimer.take()?.claim == nil)
            let status = try await worker.status(job.id)
            #expect(status.isPaused)
            #expect(status.passes.live == 0)
            #expect(status.failures == [])
        }
    }

    /// The probe of a paused job is made all the same.
    @Test func theProbeOfAPausedJobIsClaimed() async throws {
        try await withWorker { worker in
            let record = try await worker.begin()
            try await worker.store.job(record.id).change { $0.paused = true }
            #expect(await worker.claimer.take()?.claim.work == .planning)
        }
    }

    @Test func aWorkerWithAnotherPlanIsExcluded() async throws {
        try await withWorker { worker in
            try await worker.board.register(WorkerID("w2"), host: "another", memory: WorkerFixture.memory)
            let job = try await worker.planning.planAlone(try worker.record(), anew: false)
            var published = job.record.beginning
            (published.passCount, published.plan, published.need) = (4, job.plan.number, job.plan.need)
            (published.audioPasses, published.planHash) = (job.plan.audioPasses, "another plan's")
            let claim = try await worker.holdProbe(job.record)
            #expect(try await worker.board.publish(published, claim: claim) == .published)
            #expect(await worker.claimer.take()?.claim == nil)
            let reason = ReelFailure(.planDiffers(job: job.id, plan: job.plan.number, store: worker.store.name))
            #expect(try await worker.status(job.id).excluded.mapValues(\.reason) == ["w1": reason])
            #expect(await worker.claimer.memoryReserved == 0)
        }
    }

    @Test func aWorkerThatDrainsClaimsNothing() async throws {
        try await withWorker { worker in
            _ = try await worker.publish()
            worker.environment.drain.begin()
            #expect(await worker.claimer.next()?.claim == nil)
            #expect(await worker.claimer.take()?.claim == nil)
            #expect(await worker.board.calls["claim"] == nil)
        }
    }

    @Test func anOutageIsLoggedOnceAndItsEndToo() async throws {
        try await withWorker { worker in
            _ = try await worker.publish()
            await worker.board.setOutage(ModelBoard.unreachable)
            for _ in 0..<3 { #expect(await worker.claimer.take()?.claim == nil) }
            await worker.board.setOutage(nil)
            #expect(await worker.claimer.take()?.claim.index == 0)
            #expect(await worker.claimer.take()?.claim.index == 1)
            #expect(worker.log.lines.count { $0.hasPrefix("waiting for Redis") } == 1)
            #expect(worker.log.lines.count { $0 == "Redis is back" } == 1)
        }
    }
}

extension WorkerFixture {
    static let storeFailure = ReelFailure(.storeUnusable(doing: .write, path: "/store/jobs/a1", errno: 5))

    func claimer(memoryTotal: Int64) -> Claimer {
        Claimer(environment, identity: FakeEngines.identity, waiting: board, memoryTotal: memoryTotal)
    }

    /// Changes a job's record as the command line does, before the board knows.
    func change(_ job: StoredJob, _ change: (inout JobRecord) -> Void) async throws {
        try await job.entry.change { record throws(ReelFailure) in change(&record) }
    }
}

@Suite struct MemoryPoolTests {
    @Test func asManyPassesAsFit() {
        var memory = MemoryPool(total: 1000)
        memory.reserve(400)
        memory.reserve(400)
        #expect(memory.free == 200)
        memory.release(400)
        #expect(memory.free == 600)
        memory.reserve(700)
        #expect(memory.free == 0)
        memory.release(700)
        memory.release(400)
        memory.release(400)
        #expect(memory.free == 1000)
    }
}
