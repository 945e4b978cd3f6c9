import Foundation
import ReelBoardModel
import ReelCore
import ReelEngine
import ReelJobs
import ReelQueue
import ReelStore
import ReelWork
import Testing

/// A job of its own reverses the first part of a source while the rest is read, and the whole job takes its segments over.
@Suite struct EarlyStartTests {
    /// Of a source of 80 frames the first part has 20: two passes.
    private func withEarlyStart(
        _ body: (WorkerFixture, _ whole: Claim, _ early: JobID) async throws -> Void
    ) async throws {
        try await withWorker(frames: 80) { worker in
            let whole = try await worker.holdProbe(worker.record())
            try await EarlyStart(probe: worker.probe, board: worker.board).begin(for: whole.job)
            try await body(worker, whole, try #require(await worker.store.job(whole.job).read().head))
        }
    }

    /// Plans the whole job, as the process that holds its probe does.
    private func plan(_ whole: Claim, with worker: WorkerFixture) async throws -> StoredJob {
        try await ProbeAttempt(probe: worker.probe, board: worker.board, claim: whole).run()
    }

    /// Makes the passes of the early job, but not its assembly.
    private func makeFirstPart(_ early: JobID, with worker: WorkerFixture) async throws {
        worker.engines.answer { if case .assemble = $0 { .wait } else { .result } }
        try await worker.work { try await worker.board.results(early).count == 2 && worker.engines.waiting == 1 }
        worker.engines.answer { _ in .result }
    }

    @Test func onlyWhatDoesNotDependOnTheRestBeginsEarly() throws {
        func record(_ spec: JobSpec, staged: String? = nil, headBytes: Int64? = nil) -> JobRecord {
            let fingerprint = Fingerprint(size: 800, mtimeNanoseconds: 0, edges: "")
            return JobRecord(
                id: JobID("a1"), spec: spec,
                sources: [JobSource(path: "/film.mkv", staged: staged, fingerprint: fingerprint)], headBytes: headBytes,
                created: 0)
        }
        #expect(EarlyStart.isPossible(record(JobSpec(container: .mkv))))
        #expect(EarlyStart.isPossible(record(JobSpec(container: .mp4, crf: 20, threads: 4))))
        #expect(!EarlyStart.isPossible(record(JobSpec(container: .mkv, from: .seconds(Rational(1))))))
        #expect(!EarlyStart.isPossible(record(JobSpec(container: .mkv, to: .seconds(Rational(1))))))
        #expect(!EarlyStart.isPossible(record(JobSpec(container: .mkv, timestamps: .source))))
        #expect(!EarlyStart.isPossible(record(JobSpec(container: .mkv, bitrate: .source))))
        #expect(!EarlyStart.isPossible(record(JobSpec(container: .mkv), staged: "film.mkv")))
        #expect(!EarlyStart.isPossible(record(JobSpec(container: .mkv), headBytes: 100)))
    }

    @Test func itIsAJobOfTheFirstPartWithoutSound() async throws {
        try await withEarlyStart { worker, whole, early in
            #expect(worker.engines.recons == [1000])
            let job = try await StoredJob(worker.store.job(early))
            #expect(job.record.headBytes == 1000)
            #expect(job.record.spec.audio == AudioMode.none)
            #expect(job.record.spec.threads == 1)
            #expect(job.record.terms.keepsSegments)
            #expect(job.plan.frameCount == 20)
            #expect(job.plan.diagnostics == [.headOnly])
            #expect(try await worker.board.state(of: early) == .running)
            #expect(try await worker.board.state(of: whole.job) == .probing)
        }
    }

    @Test func aJobThatHasAPlanDoesNotBeginEarly() async throws {
        try await withWorker(frames: 80) { worker in
            let job = try await worker.publish()
            try await EarlyStart(probe: worker.probe, board: worker.board).begin(for: job.id)
            #expect(try await job.entry.read().head == nil)
            #expect(try await worker.store.jobs() == [job.id])
        }
    }

    @Test func aSourceWhoseTablesWereDisprovedDoesNotBeginEarly() async throws {
        try await withWorker(frames: 80) { worker in
            let record = try await worker.begin()
            try await worker.store.source(record.source.fingerprint).disprove(.of(.transient))
            try await EarlyStart(probe: worker.probe, board: worker.board).begin(for: record.id)
            #expect(try await worker.store.jobs() == [record.id])
        }
    }

    @Test func theWholeJobTakesOverWhatWasMade() async throws {
        try await withEarlyStart { worker, whole, early in
            try await makeFirstPart(early, with: worker)
            let job = try await plan(whole, with: worker)
            #expect(job.plan.frameCount == 80)
            // The first frames are the last passes.
            #expect(try await worker.board.results(job.id).keys.sorted() == [6, 7])
            let status = try await worker.status(early)
            #expect(status.isPaused)
            #expect(try await worker.store.job(early).read().paused)
            #expect(await !worker.store.job(early).hasFinishedSegments)

            let made = worker.engines.passes.count
            try await worker.another("w2").workToEnd(of: job.id)
            #expect(worker.engines.passes.dropFirst(made) == [0, 1, 2, 3, 4, 5])
            let output = try #require(await job.entry.result)
            let lines = try String(contentsOfFile: output.locator.name, encoding: .utf8).split(separator: "\n")
            #expect(lines.first == "v70-80 backwards")
            #expect(lines.last == "v0-10 backwards")
            #expect(lines.count == 8)
        }
    }

    /// A pass of the early job that is in flight goes on; the whole job finds its segments when it claims the same pass.
    @Test func aPassInFlightIsTakenOverWhenTheWholeJobClaimsIt() async throws {
        try await withEarlyStart { worker, whole, early in
            let first = worker.store.job(early).plan(1)
            worker.engines.answer { request in
                if case .reverse(let pass) = request, pass.job.plan == first { .wait } else { .result }
            }
            let slots = worker.start()
            try await until { worker.engines.waiting == 1 }
            let job = try await plan(whole, with: worker)
            #expect(try await worker.board.results(job.id).isEmpty)
            worker.engines.letGo()
            try await until { try await worker.board.state(of: job.id) == .done }
            try await until { try await worker.board.status(early) == nil }
            worker.environment.drain.stopNow()
            try await slots.end()
            // The early job's first pass, and of the whole job all but the one that was taken over.
            #expect(worker.engines.passes.count == 1 + 7)
            #expect(worker.log.lines.count { $0.hasSuffix("was whole already") } == 1)
        }
    }

    @Test func itIsRemovedWhenTheWholeJobIsDone() async throws {
        try await withEarlyStart { worker, whole, early in
            try await makeFirstPart(early, with: worker)
            let job = try await plan(whole, with: worker)
            let other = try await worker.another("w2")
            try await other.work { try await worker.board.status(early) == nil }
            #expect(try await worker.board.state(of: job.id) == .done)
            #expect(await !worker.store.job(early).exists)
            #expect(try await worker.store.jobs() == [job.id])
        }
    }

    @Test func itIsRemovedWhenTheSourceIsRefused() async throws {
        try await withEarlyStart { worker, whole, early in
            worker.engines.failProbes(with: .of(.permanent))
            await #expect(throws: ReelFailure.of(.permanent)) { try await plan(whole, with: worker) }
            #expect(await !worker.store.job(early).exists)
            let status = try await worker.board.status(early)
            #expect(status == nil)
        }
    }

    /// The early job ends, and the whole job is planned without it: its index was not disproved.
    @Test func aDisprovedPlanOfTheFirstPartFailsTheEarlyJobAlone() async throws {
        try await withEarlyStart { worker, whole, early in
            let disproof = ReelFailure(.planDisproved(path: worker.source, disproof: .order, time: Rational(1)))
            worker.engines.answer { _ in .failure(disproof) }
            try await worker.workToEnd(of: early)
            #expect(try await worker.store.job(early).read().failure == disproof)
            let record = try await worker.store.job(whole.job).read()
            #expect(try await !worker.store.source(record.source.fingerprint).isDisproved())
            #expect(try await worker.board.state(of: whole.job) == .probing)
        }
    }

    /// Who was to remove it was killed.
    @Test func theJanitorRemovesItAfterTheWholeJobsEnd() async throws {
        try await withEarlyStart { worker, whole, early in
            let job = try await plan(whole, with: worker)
            let janitor = Janitor(worker.environment)
            await janitor.clean()
            #expect(try await worker.store.jobs().count == 2)
            try await worker.change(job) { $0.state = .done }
            await janitor.clean()
            #expect(try await worker.store.jobs() == [job.id])
            #expect(try await worker.board.status(early) == nil)
        }
    }

    /// A kept pass must be what the whole source says of those frames.
    @Test func itIsRemovedIfTheWholeSourceSaysOtherwise() async throws {
        try await withEarlyStart { worker, whole, early in
            try await makeFirstPart(early, with: worker)
            worker.engines.delayFrames()
            let job = try await plan(whole, with: worker)
            #expect(try await worker.board.results(job.id).isEmpty)
            #expect(try await job.entry.read().head == nil)
            #expect(await !worker.store.job(early).exists)
            #expect(try await worker.board.status(early) == nil)
        }
    }
}
