import Foundation
import ReelCore
import ReelEngine
import ReelJobs
import ReelQueue
import ReelStore
import Synchronization
import Testing

extension ServiceTests {
    /// Submitting a job, whatever became of it before.
    @Suite struct SubmitTests {
        @Test func aRunningJobIsAttachedToEachTime() async throws {
            let fixture = try await JobFixture()
            let job = try fixture.job()
            try await fixture.publish(job)
            for _ in 0..<2 {
                let states = Mutex<[JobState]>([])
                let submitted = try await fixture.service.submit(
                    job, engine: fixture.engine, known: { state in states.withLock { $0.append(state) } })
                #expect(submitted.id == job.id)
                #expect(submitted.outcome == .attached)
                #expect(submitted.diagnostics == [.noTimestamps])
                #expect(states.withLock(\.self) == [.running])
            }
            #expect(try await fixture.service.jobs().jobs.map(\.id) == [job.id.text])
            #expect(try fixture.store.jobs() == [job.id])
        }

        @Test func theLastSubmissionThatNamesOrLabelsAJobCounts() async throws {
            let fixture = try await JobFixture()
            var job = try fixture.job()
            try await fixture.publish(job)
            func submit(_ submission: Submission) async throws -> JobView {
                job.submission = submission
                let submitted = try await fixture.service.submit(job, engine: fixture.engine)
                #expect(submitted.outcome == .attached)
                return try await fixture.service.view(job.id)
            }
            let first = try await submit(Submission(name: "one", labels: ["a": "b"], submitter: "alice@h"))
            #expect([first.name, first.submitter] == ["one", "alice@h"])
            #expect(first.labels == ["a": "b"])
            #expect(try await submit(Submission(submitter: "bob@h")).name == "one")
            let last = try await submit(Submission(labels: ["c": "d"], submitter: "bob@h"))
            #expect(last.name == nil)
            #expect(last.labels == ["c": "d"])
            #expect(last.submitter == "bob@h")
            #expect(last.options == job.spec)
            #expect(last.weight == 1)
            #expect(try await fixture.service.jobs().jobs.map(\.labels) == [["c": "d"]])
        }

        @Test func aJobWithAResultIsNotBegunAgain() async throws {
            let fixture = try await JobFixture()
            let job = try fixture.job()
            try fixture.finish(job)
            let states = Mutex<[JobState]>([])
            let submitted = try await fixture.service.submit(
                job, engine: fixture.engine, known: { state in states.withLock { $0.append(state) } })
            #expect(submitted.outcome == .finished)
            #expect(states.withLock(\.self) == [.done])
            #expect(try await fixture.board.isEmpty())
        }

        @Test func submittersOfOneJobWaitForTheSamePlan() async throws {
            let fixture = try await JobFixture()
            let job = try fixture.job()
            try fixture.store.job(job.id).create()
            #expect(try fixture.store.job(job.id).create(job))
            let begun = try await fixture.board.begin(job.beginning, holder: WorkerID("another"))
            guard case .begun(let claim) = begun else {
                Issue.record("\(begun)")
                return
            }
            let (service, engine, waiting) = (fixture.service, fixture.engine, Counter())
            let submitters = (0..<2).map { _ in
                Task { try await service.submit(job, engine: engine, known: { _ in waiting.count() }) }
            }
            while waiting.now < 2 { try await Task.sleep(for: .milliseconds(5)) }
            let plan = try fixture.store.job(job.id).readPlan(fixture.store.job(job.id).writePlan(JobFixture.plan))
            var published = job.beginning
            (published.frames, published.passCount, published.audioPasses) = (plan.frameCount, 2, plan.audioPasses)
            (published.plan, published.planHash) = (plan.number, try plan.hash())
            #expect(try await fixture.board.publish(published, claim: claim) == .published)
            for submitter in submitters {
                let submitted = try await submitter.value
                #expect(submitted.id == job.id)
                #expect(submitted.outcome == .attached)
            }
            #expect(try await fixture.service.jobs().jobs.map(\.id) == [job.id.text])
        }

        @Test func nothingIsLeftOfAJobThatCannotBeProbedHere() async throws {
            let fixture = try await JobFixture()
            let job = try fixture.job()
            for _ in 0..<2 {
                let failure = await reason { _ = try await fixture.service.submit(job, engine: fixture.engine) }
                guard case .engineUnstartable = failure else {
                    Issue.record("\(String(describing: failure))")
                    return
                }
                #expect(try await fixture.board.state(of: job.id) == nil)
                #expect(try fixture.store.jobs().isEmpty)
            }
        }

        @Test func submittingAnewRemovesWhatWasDone() async throws {
            let fixture = try await JobFixture()
            let job = try fixture.job()
            try fixture.finish(job)
            let failure = await reason { _ = try await fixture.service.submit(job, engine: fixture.engine, anew: true) }
            // Without the result, the source had to be read.
            guard case .engineUnstartable = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(try fixture.store.jobs().isEmpty)
        }

        @Test func submittingNeedsAStore() async throws {
            let fixture = try await JobFixture()
            let board = fixture.board
            let service = JobService(store: nil) { board }
            let job = try fixture.job()
            #expect(await reason { _ = try await service.submit(job, engine: fixture.engine) } == .storeNotNamed)
            #expect(await reason { try await service.join() } == .storeNotNamed)
        }
    }
}
