import ReelBoardModel
import ReelCore
import ReelEngine
import ReelJobs
import ReelQueue
import ReelStore
import ReelWork
import Testing

@Suite struct SlotHealthTests {
    private func crash(_ health: inout SlotHealth, _ jobs: String...) {
        for job in jobs { health.engineCrashed(in: JobID(job)) }
    }

    @Test func crashesInThreeJobsInARowStopASlot() {
        var health = SlotHealth()
        crash(&health, "a", "b", "b", "a")
        #expect(health.pauseBeforeTrial == nil)
        crash(&health, "c")
        #expect(health.pauseBeforeTrial == .zero)
    }

    @Test func aFinishedPassForgivesCrashes() {
        var health = SlotHealth()
        crash(&health, "a", "b")
        health.passFinished()
        crash(&health, "c")
        #expect(health.pauseBeforeTrial == nil)
    }

    @Test func eachFailedTrialDoublesThePause() {
        var health = SlotHealth()
        crash(&health, "a", "b", "c")
        var pauses: [Duration?] = []
        for _ in 0..<8 {
            health.tried(succeeded: false)
            pauses.append(health.pauseBeforeTrial)
        }
        #expect(pauses == [60, 120, 240, 480, 960, 1800, 1800, 1800].map { .seconds($0) })
    }

    @Test func jobsThatCrashedBeforeTheTrialAreToBlame() {
        var health = SlotHealth()
        crash(&health, "a", "b", "c")
        health.tried(succeeded: true)
        #expect(health.pauseBeforeTrial == nil)
        crash(&health, "a", "b", "c")
        #expect(health.pauseBeforeTrial == nil)
        crash(&health, "d", "e", "f")
        // One trial was made since a pass was last finished.
        #expect(health.pauseBeforeTrial == .seconds(60))
    }

    @Test func aTrialIsAPassOfTwelveFrames() async throws {
        try await withWorker { worker in
            try await SlotTrial(worker.engines).run()
            #expect(worker.engines.passes == [0])
            worker.engines.answer { _ in .crash }
            await #expect(throws: FakeEngines.crash) { try await SlotTrial(worker.engines).run() }
        }
    }

    @Test func aSlotWhoseEnginesCrashReturnsAfterATrial() async throws {
        try await withWorker { worker in
            var jobs: [JobID] = []
            for quality in [20.0, 21, 22] { jobs.append(try await worker.publish(quality: quality).id) }
            let scratch = worker.environment.scratch
            worker.engines.answer { request in
                guard case .reverse(let pass) = request else { return .result }
                // What has another folder for its scratch files is the clip.
                return pass.scratch.hasPrefix(scratch + "/reel-scratch.") ? .crash : .wait
            }
            let slots = worker.start()
            try await until { worker.engines.waiting == 1 }
            #expect(worker.environment.notes.slotsOut == 1)
            #expect(await worker.board.calls["fail"] == 3)
            worker.engines.answer { _ in .result }
            worker.engines.letGo()
            for job in jobs { try await until { try await worker.board.state(of: job) == .done } }
            #expect(worker.environment.notes.slotsOut == 0)
            worker.environment.drain.stopNow()
            try await slots.end()
            #expect(worker.log.lines.contains("the slot claims again: its engine did the clip"))
        }
    }

    @Test func crashesWhilePlanningStopASlotBeforeItClaimsAgain() async throws {
        try await withWorker { worker in
            for quality in [20.0, 21, 22, 23] { _ = try await worker.begin(quality: quality) }
            worker.engines.answerProbes(.crash)
            let slots = worker.start()
            try await until { worker.environment.notes.slotsOut == 1 }
            #expect(await worker.board.calls["fail"] == 3)
            worker.environment.drain.stopNow()
            try await slots.end()
        }
    }

    /// The board knows after a second host that the job is at fault.
    @Test func aCrashThatTheBoardBlamesOnTheJobDoesNotCount() async throws {
        try await withWorker { worker in
            let other = try await worker.another("w2")
            var jobs: [JobID] = []
            for quality in [20.0, 21, 22] {
                let job = try await worker.publish(quality: quality)
                let claim = try #require(await other.claimer.take()).claim
                _ = try await worker.board.fail(claim, worker: other.worker, failure: FakeEngines.crash)
                await other.claimer.release(claim)
                _ = try await worker.board.pause(job.id)
                jobs.append(job.id)
            }
            for job in jobs { _ = try await worker.board.resume(job) }
            worker.engines.answer { $0.pass == 0 ? .crash : .result }
            try await worker.work {
                var states: [JobState?] = []
                for job in jobs { states.append(try await worker.board.state(of: job)) }
                return states == [.failed, .failed, .failed]
            }
            #expect(!worker.log.lines.contains { $0.hasPrefix("a slot claims nothing") })
        }
    }
}
