import Foundation
import ReelCore
import ReelEngine
import ReelJobs
import ReelQueue
import ReelStore
import ReelTestSupport
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
            // It stays the job of the submitter who began it, for whom it counts.
            #expect(last.submitter == "alice@h")
            #expect(last.options == job.spec)
            #expect(last.weight == 1)
            #expect(try await fixture.service.jobs().jobs.map(\.labels) == [["c": "d"]])
        }

        /// A user changed its weight, and the board has forgotten it.
        @Test func aJobThatGoesOnKeepsItsSubmitterAndItsWeight() async throws {
            let fixture = try await JobFixture()
            var job = try fixture.job()
            job.submission = Submission(submitter: "alice@h")
            try await fixture.publish(job)
            #expect(try await fixture.service.weigh(job.id, 3) == .weighed(3))
            try fixture.raw("FLUSHALL")
            try await fixture.service.join()
            var other = job
            (other.submission, other.terms.weight) = (Submission(submitter: "bob@h"), 2)
            #expect(try await fixture.service.attach(other) == nil, "the board has to begin it")
            let posted = try await fixture.service.post(other)
            #expect(posted.state == .probing && !posted.isNew)
            let record = try fixture.store.job(job.id).read()
            #expect(record.terms.weight == 3 && record.submission?.submitter == "alice@h")
            let view = try await fixture.service.view(job.id)
            #expect(view.weight == 3 && view.submitter == "alice@h")
            #expect(try await fixture.service.attach(other)?.state == .probing)
        }

        /// Also if the process that ended it has not told the store.
        @Test(arguments: [true, false]) func aJobThatFailedBeginsAnewAsTheNextSubmitters(isRecorded: Bool) async throws
        {
            let fixture = try await JobFixture()
            var job = try fixture.job()
            job.submission = Submission(name: "one", submitter: "alice@h")
            try await fixture.publish(job)
            try await fixture.fail(job.id)
            let entry = fixture.store.job(job.id)
            if isRecorded { try await entry.change { $0.end(.failed, at: 1) } }
            job.submission = Submission(submitter: "bob@h")
            job.terms.weight = 2
            #expect(try await fixture.service.attach(job) == nil)
            #expect(try entry.read().submission?.submitter == "alice@h", "attaching begins nothing")
            #expect(try await fixture.service.post(job).state == .probing)
            let view = try await fixture.service.view(job.id)
            #expect([view.submitter, view.name] == ["bob@h", "one"])
            #expect(view.weight == 2)
            #expect(try entry.read().state == nil)
        }

        @Test func attachingToAJobChangesNothingElse() async throws {
            let fixture = try await JobFixture()
            let (running, done, unknown) = (try fixture.job("a"), try fixture.job("b"), try fixture.job("c"))
            try await fixture.publish(running)
            try fixture.finish(done)
            let attached = try #require(try await fixture.service.attach(running))
            #expect(attached.job.outcome == .attached && attached.state == .running && !attached.isNew)
            #expect(try await fixture.service.attach(done)?.job.outcome == .finished)
            #expect(try await fixture.service.attach(unknown) == nil)
            #expect(Set(try fixture.store.jobs()) == [running.id, done.id])
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

        // MARK: Lists

        private func list(_ fixture: JobFixture, _ count: Int) throws -> [JobRecord] {
            try (0..<count).map { try fixture.job("clip\($0)") }
        }

        @Test func aListIsPostedInItsOrder() async throws {
            let fixture = try await JobFixture()
            let jobs = try list(fixture, 40)
            try fixture.finish(jobs[5])
            try await fixture.publish(jobs[7])
            var heard: [(place: Int, job: PostedJob)] = []
            for _ in 0..<2 {
                heard = []
                try await fixture.service.post(jobs) { place, job in
                    if case .success(let job) = job { heard.append((place, job)) }
                }
                #expect(heard.map(\.place) == Array(0..<40))
                #expect(heard.map(\.job.id) == jobs.map(\.id))
                #expect(heard[5].job.job.outcome == .finished && heard[5].job.state == .done)
                #expect(heard[7].job.job.outcome == .attached && heard[7].job.state == .running)
                #expect(heard[7].job.job.diagnostics == [.noTimestamps])
            }
            #expect(heard.allSatisfy { !$0.job.isNew })
            #expect(Set(try fixture.store.jobs()) == Set(jobs.map(\.id)))
            for (place, job) in jobs.enumerated() where ![5, 7].contains(place) {
                #expect(try await fixture.board.state(of: job.id) == .probing)
            }
            // No submitter holds the planning, which a worker gets.
            let claim = try await fixture.claim(memory: 1 << 30, protocolVersion: Wire.version)
            #expect(claim.work == .planning && jobs.map(\.id).contains(claim.job))
        }

        @Test func aJobOfAListThatCannotBeBegunEndsAlone() async throws {
            let fixture = try await JobFixture()
            var jobs = try list(fixture, 20)
            jobs[3].sources[0].staged = "clip3.mp4"
            try FileManager.default.removeItem(atPath: jobs[3].source.path)
            jobs[4].sources[0].staged = "clip4.mp4"
            var failed: [Int: FailureReason] = [:]
            try await fixture.service.post(jobs) { place, job in
                if case .failure(let failure) = job { failed[place] = failure.reason }
            }
            #expect(Array(failed.keys) == [3], "\(failed)")
            // No worker finds the record of a job that was not begun.
            #expect(try fixture.store.jobs().count == 19)
            #expect(try await fixture.board.state(of: jobs[3].id) == nil)
            #expect(fixture.store.job(jobs[4].id).hasCopy(of: jobs[4].source))
        }

        @Test func aListThatIsInterruptedHasBegunWhatWasToldAndNothingElse() async throws {
            let fixture = try await JobFixture()
            let (jobs, service) = (try list(fixture, 60), fixture.service)
            let task = Task {
                var heard: [JobID] = []
                let end = await reason {
                    try await service.post(jobs) { _, job in
                        if case .success(let job) = job { heard.append(job.id) }
                        withUnsafeCurrentTask { $0?.cancel() }
                    }
                }
                return (heard, end)
            }
            let (heard, end) = await task.value
            #expect(end == .interrupted)
            #expect(!heard.isEmpty && heard.count < 60)
            #expect(heard == Array(jobs.prefix(heard.count)).map(\.id))
            #expect(Set(try fixture.store.jobs()) == Set(heard))
            for id in heard { #expect(try await fixture.board.state(of: id) == .probing) }
        }

        @Test func aListThatStartsOverRemovesWhatWasDone() async throws {
            let fixture = try await JobFixture()
            let jobs = try list(fixture, 3)
            try fixture.finish(jobs[1])
            var outcomes: [SubmittedJob.Outcome] = []
            try await fixture.service.post(jobs, anew: true) { _, job in
                if case .success(let job) = job { outcomes.append(job.job.outcome) }
            }
            #expect(outcomes == [.published, .published, .published])
            #expect(await fixture.store.job(jobs[1].id).result == nil)
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

        // MARK: Results

        private func expectNone(_ fixture: JobFixture, _ id: JobID, because expected: FailureReason) async throws {
            let results = try fixture.service.results()
            let destination = Destination("\(fixture.folder)/out.mkv", overwrite: false)
            #expect(await reason { _ = try await results.result(of: id) } == expected)
            #expect(await reason { try await results.deliver(id, to: destination) } == expected)
            #expect(await reason { _ = try await results.verify(id) } == expected)
            #expect(!FileManager.default.fileExists(atPath: destination.path))
        }

        @Test func unknownJobs() async throws {
            let id = JobID("0123456789abcdef")
            try await expectNone(try await JobFixture(), id, because: .jobUnknown(job: id))
        }

        @Test func jobsThatAreNotDone() async throws {
            let fixture = try await JobFixture()
            let id = try await fixture.publish(fixture.job())
            try await expectNone(fixture, id, because: .noResult(job: id, state: nil))
            _ = try await fixture.service.cancel(id)
            try await expectNone(fixture, id, because: .noResult(job: id, state: .cancelled))
        }

        @Test func aResultIsDeliveredAndStays() async throws {
            let fixture = try await JobFixture()
            let id = try fixture.finish(fixture.job())
            let results = JobResults(in: fixture.store)
            let destination = Destination("\(fixture.folder)/out.mkv", overwrite: false)
            try await results.deliver(id, to: destination)
            #expect(try String(contentsOfFile: destination.path, encoding: .utf8) == JobFixture.output)
            #expect(
                await reason { try await results.deliver(id, to: destination) } == .outputExists(path: destination.path)
            )
            try await results.deliver(id, to: Destination(destination.path, overwrite: true))
            let verified = try await results.verify(id)
            let stored = try await results.result(of: id)
            #expect(verified.path == stored.locator.name)
            #expect(verified.bytes == 8)
            #expect(verified.sha256 == JobFixture.outputHash)
        }

        @Test func theNameMustFitTheContainer() async throws {
            let fixture = try await JobFixture()
            let id = try fixture.finish(fixture.job())
            let path = "\(fixture.folder)/out.mp4"
            let found = await reason {
                try await fixture.service.results().deliver(id, to: Destination(path, overwrite: false))
            }
            #expect(found == .outputContainerDiffers(job: id, container: .mkv, output: path))
        }

        @Test func aCopyThatHasChangedIsNoResult() async throws {
            let fixture = try await JobFixture()
            let id = try fixture.finish(fixture.job())
            let results = try fixture.service.results()
            let copy = "\(fixture.folder)/out.mkv"
            try await results.deliver(id, to: Destination(copy, overwrite: false))
            #expect(try await results.verify(id, copy: copy).path == copy)
            try "desrever".write(toFile: copy, atomically: false, encoding: .utf8)
            guard
                case .resultDiffers(let job, copy, 8, _, 8, JobFixture.outputHash) = await reason({
                    _ = try await results.verify(id, copy: copy)
                })
            else {
                Issue.record("the change was not found")
                return
            }
            #expect(job == id)
        }
    }
}

@Suite("Names of jobs")
struct JobNameTests {
    private let ids = ["3f2a5d0c9be17c44", "3f2b81c05d0c2f3a", "81c0aaaaaaaaaaaa", "a1"].map(JobID.init)

    @Test(
        "the beginning of one id names it, in any case",
        arguments: ["81", "81C0", "3f2a", "3F2A5D0C9BE17C44", "a1", "A"])
    func beginning(_ text: String) throws {
        let found = try JobName(text).job(among: ids)
        #expect(found?.text.hasPrefix(text.lowercased()) == true)
    }

    @Test("the beginning of several is refused, and names them; their number is limited")
    func ambiguous() throws {
        let failure = #expect(throws: ReelFailure.self) { try JobName("3F2").job(among: ids + ids) }
        #expect(failure?.reason == .jobAmbiguous(name: "3F2", matches: [ids[0], ids[1]]))
        let many = (10..<30).map { JobID("b\($0)") }
        let other = #expect(throws: ReelFailure.self) { try JobName("b").job(among: many) }
        #expect(other?.reason == .jobAmbiguous(name: "b", matches: Array(many.prefix(5))))
    }

    @Test("an id that another begins with is that id")
    func exact() throws {
        #expect(try JobName("b1").job(among: ["b1", "b12"].map(JobID.init)) == JobID("b1"))
        #expect(try JobName("zz").job(among: ids) == nil)
        #expect(try JobName("").job(among: [JobID("a1")]) == nil, "every id begins with nothing")
    }
}
