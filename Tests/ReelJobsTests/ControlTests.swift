import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
import ReelTestSupport
import Testing

extension ServiceTests {
    /// What users can do to a job in each state.
    @Suite struct ControlTests {
        private func expectUnknown(
            _ fixture: JobFixture, _ id: JobID, sourceLocation: SourceLocation = #_sourceLocation
        ) async {
            let service = fixture.service
            for change in [service.cancel, service.pause, service.resume, service.retry, service.remove] {
                #expect(
                    await reason { _ = try await change(id) } == .jobUnknown(job: id), sourceLocation: sourceLocation)
            }
        }

        @Test func unknownJobs() async throws { await expectUnknown(try await JobFixture(), JobID("0123456789abcdef")) }

        /// The job began again, and Redis lost that: the board has the end of before.
        @Test func anEndOfBeforeTheLastBeginningDoesNotCount() async throws {
            let fixture = try await JobFixture()
            let (service, id) = (fixture.service, try await fixture.publish(fixture.job()))
            let entry = fixture.store.job(id)
            #expect(try await service.cancel(id) == .cancelled)
            #expect(try await service.remind(id) == nil)
            try await entry.change { $0.runAgain() }
            try await entry.settle(on: fixture.board)
            #expect(try entry.read().state == nil)
            #expect(try await service.remind(id) == .recovered(passesDone: 0))
            #expect(try await fixture.board.status(id)?.job.run == 1)
            #expect(try await fixture.board.state(of: id) == .probing)
            #expect(try await service.remind(id) == nil)
            // Of the new run, the end counts.
            #expect(try await service.cancel(id) == .cancelled)
            #expect(try entry.read().state == .cancelled)
        }

        @Test func aJobThatIsDoneStaysDoneThoughTheBoardHasAnEarlierEnd() async throws {
            let fixture = try await JobFixture()
            let job = try fixture.job()
            let id = try await fixture.publish(job)
            #expect(try await fixture.service.cancel(id) == .cancelled)
            let entry = fixture.store.job(id)
            try await entry.change { record in
                record.runAgain()
                record.end(.done, at: 1)
            }
            try await entry.settle(on: fixture.board)
            #expect(try entry.read().state == .done)
            #expect(try await fixture.service.remind(id) == nil)
            #expect(try await fixture.board.state(of: id) == nil)
            #expect(try entry.read().state == .done)
        }

        @Test func eachRetryIsARunThatTheBoardKnows() async throws {
            let fixture = try await JobFixture()
            let (service, id) = (fixture.service, try await fixture.publish(fixture.job()))
            for run in 1...2 {
                try await fixture.fail(id)
                #expect(try await service.retry(id) == .retried)
                #expect(try fixture.store.job(id).read().run == run)
                #expect(try await fixture.board.status(id)?.job.run == run)
            }
            try await fixture.fail(id)
            try await fixture.store.job(id).settle(on: fixture.board)
            #expect(try fixture.store.job(id).read().state == .failed)
        }

        /// A process was killed between its change of the record and that of the board.
        @Test func theBoardIsToldOfTheRecordsNameAndWeight() async throws {
            let fixture = try await JobFixture()
            let (service, id) = (fixture.service, try await fixture.publish(fixture.job()))
            let entry = fixture.store.job(id)
            try await entry.change { record in
                record.terms.weight = 3
                record.submission = Submission(name: "other", submitter: "alice@h")
            }
            #expect(try await service.view(id).weight == 1)
            #expect(try await service.remind(id) == nil)
            let view = try await service.view(id)
            #expect(view.weight == 3 && view.name == "other" && view.submitter == "alice@h")
            #expect(try await fixture.board.jobs(of: "alice") == 1)
        }

        @Test func theBoardKnowsTheSubmitterFromTheBeginning() async throws {
            let fixture = try await JobFixture()
            var job = try fixture.job()
            job.submission = Submission(submitter: "alice@h")
            #expect(try fixture.store.job(job.id).create(job))
            #expect(try await fixture.service.recover(job.id) == .recovered(passesDone: 0))
            #expect(try await fixture.board.jobs(of: "alice") == 1)
        }

        /// Another process removes the job between two looks of each change.
        @Test func aJobThatIsRemovedMeanwhileIsUnknown() async throws {
            let fixture = try await JobFixture()
            for round in 0..<20 {
                let job = try fixture.job("clip\(round)")
                try fixture.finish(job)
                let (service, id) = (fixture.service, job.id)
                let changes: [@Sendable () async -> FailureReason?] = [
                    { await reason { _ = try await service.remove(id) } },
                    { await reason { _ = try await service.cancel(id) } },
                    { await reason { _ = try await service.weigh(id, 2) } },
                    { await reason { _ = try await service.pause(id) } },
                    { await reason { _ = try await service.retry(id) } },
                ]
                let reasons = await withTaskGroup(of: FailureReason?.self) { group in
                    for change in changes + changes { group.addTask { await change() } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                let known: [FailureReason] = [
                    .jobUnknown(job: id), .jobEnded(job: id, state: .done), .jobNotFailed(job: id, state: .done),
                ]
                #expect(reasons.allSatisfy { $0.map(known.contains) ?? true }, "\(reasons)")
                #expect(try fixture.store.jobs().isEmpty)
            }
        }

        @Test func aRunningJob() async throws {
            let fixture = try await JobFixture()
            let (service, id) = (fixture.service, try await fixture.publish(fixture.job()))
            #expect(await reason { _ = try await service.retry(id) } == .jobNotFailed(job: id, state: .running))
            #expect(await reason { _ = try await service.remove(id) } == .jobNotEnded(job: id, state: .running))
            for _ in 0..<2 {
                #expect(try await service.pause(id) == .paused)
                #expect(try await service.view(id).paused)
                #expect(try fixture.store.job(id).read().paused)
            }
            for _ in 0..<2 {
                #expect(try await service.resume(id) == .resumed)
                #expect(try await !service.view(id).paused)
                #expect(try !fixture.store.job(id).read().paused)
            }
            #expect(try await service.cancel(id) == .cancelled)
            #expect(try await service.view(id).state == .cancelled)
            #expect(try fixture.store.job(id).read().state == .cancelled)
        }

        @Test func aCancelledJob() async throws {
            let fixture = try await JobFixture()
            let (service, id) = (fixture.service, try await fixture.publish(fixture.job()))
            #expect(try await service.cancel(id) == .cancelled)
            #expect(try await service.cancel(id) == .hadEnded(.cancelled))
            #expect(await reason { _ = try await service.pause(id) } == .jobEnded(job: id, state: .cancelled))
            #expect(await reason { _ = try await service.resume(id) } == .jobEnded(job: id, state: .cancelled))
            #expect(await reason { _ = try await service.retry(id) } == .jobNotFailed(job: id, state: .cancelled))
            #expect(try await service.remove(id) == .removed)
            await expectUnknown(fixture, id)
        }

        @Test func aFailedJob() async throws {
            let fixture = try await JobFixture()
            let (service, id) = (fixture.service, try await fixture.publish(fixture.job()))
            try await fixture.fail(id)
            #expect(try await service.cancel(id) == .hadEnded(.failed))
            #expect(await reason { _ = try await service.pause(id) } == .jobEnded(job: id, state: .failed))
            #expect(try await service.retry(id) == .retried)
            #expect(try await service.view(id).state == .running)
            try await fixture.fail(id)
            #expect(try await service.remove(id) == .removed)
            await expectUnknown(fixture, id)
        }

        @Test func aJobThatIsDoneAndThatTheBoardHasForgotten() async throws {
            let fixture = try await JobFixture()
            let (service, id) = (fixture.service, try fixture.finish(fixture.job()))
            #expect(try await service.cancel(id) == .hadEnded(.done))
            #expect(await reason { _ = try await service.pause(id) } == .jobEnded(job: id, state: .done))
            #expect(await reason { _ = try await service.retry(id) } == .jobNotFailed(job: id, state: .done))
            #expect(try await service.recover().isEmpty)
            #expect(try await service.remove(id) == .removed)
            #expect(try fixture.store.jobs().isEmpty)
        }

        @Test func anUnfinishedJobThatTheBoardHasLost() async throws {
            let fixture = try await JobFixture()
            let (service, job) = (fixture.service, try fixture.job())
            let id = job.id
            try fixture.plan(job)
            #expect(await reason { _ = try await service.pause(id) } == .jobNotOnBoard(job: id))
            #expect(await reason { _ = try await service.remove(id) } == .jobNotEnded(job: id, state: .running))
            #expect(await reason { _ = try await service.retry(id) } == .jobNotFailed(job: id, state: nil))
            let first = try await service.recover()
            #expect(first.map(\.job) == [id])
            #expect(first.map(\.outcome) == [.recovered(passesDone: 0)])
            #expect(try await service.recover().map(\.outcome) == [.known])
            #expect(try await service.cancel(id) == .cancelled)
            #expect(try await service.recover().isEmpty)
        }

        @Test("a worker that is there and claims nothing is none that takes work")
        func workersThatClaimNothing() async throws {
            let fixture = try await JobFixture()
            func check(_ notes: [Diagnostic]) async -> FailureReason? {
                await reason {
                    _ = try await fixture.board.beat(
                        WorkerReport(
                            worker: WorkerID("w"), host: "h", slots: 2, memoryTotal: 1 << 30, encoders: [],
                            protocolVersion: 2, notes: notes, held: []))
                    try await fixture.service.checkWorkers()
                }
            }
            #expect(await check([]) == nil)
            #expect(await check([.workerClockDiffers(seconds: 90)]) == nil)
            #expect(await check([.workerDiskFull(folders: ["/s"])]) == .workersAbsent(known: 1))
            let denied = ReelFailure(.storeMissing(path: "/s"))
            #expect(await check([.workerStoreUnusable(last: denied)]) == .workersAbsent(known: 1))
            #expect(await check([]) == nil)
        }

        @Test func aWeightIsInTheRecordAndOnTheBoard() async throws {
            let fixture = try await JobFixture()
            let id = try await fixture.publish(fixture.job())
            #expect(try await fixture.service.weigh(id, 0.5) == .weighed(0.5))
            #expect(try await fixture.service.view(id).weight == 0.5)
            #expect(try fixture.store.job(id).read().terms.weight == 0.5)
            #expect(try await fixture.service.cancel(id) == .cancelled)
            #expect(
                await reason { _ = try await fixture.service.weigh(id, 2) } == .jobEnded(job: id, state: .cancelled))
            #expect(try await fixture.service.view(id).weight == 0.5)
        }

        @Test func changesAtTheSameTimeAllCount() async throws {
            let fixture = try await JobFixture()
            let (service, id) = (fixture.service, try await fixture.publish(fixture.job()))
            let weights = [2.0, 3.0, 4.0]
            for round in 0..<20 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await service.describe(id, name: "name \(round)") }
                    group.addTask { try await service.describe(id, labels: ["round": "\(round)"]) }
                    for weight in weights { group.addTask { _ = try await service.weigh(id, weight) } }
                    try await group.waitForAll()
                }
                let (view, record) = (try await service.view(id), try fixture.store.job(id).read())
                #expect(record.submission?.name == "name \(round)")
                #expect(record.submission?.labels == ["round": "\(round)"])
                #expect(weights.contains(record.terms.weight))
                #expect(view.name == record.submission?.name)
                #expect(view.labels == record.submission?.labels)
                #expect(view.weight == record.terms.weight)
            }
        }

        @Test func workersAreDrainedByTheirNameOrTheirHosts() async throws {
            let fixture = try await JobFixture()
            let service = fixture.service
            for name in ["w1", "w2"] {
                _ = try await fixture.board.beat(
                    WorkerReport(
                        worker: WorkerID(name), host: "h", slots: 1, memoryTotal: 1000, encoders: [],
                        protocolVersion: 1, held: []))
            }
            #expect(await reason { _ = try await service.drain("w3") } == .workerUnknown(name: "w3"))
            #expect(try await service.drain("w2") == .drained("w2", .worker, workers: 1))
            #expect(try await service.workers().map(\.draining) == [false, true])
            #expect(try await service.workers().map(\.drained) == [nil, .worker])
            #expect(try await service.queue().slots == 1)
            #expect(try await service.drain("h") == .drained("h", .host, workers: 2))
            #expect(try await service.workers().map(\.drained) == [.host, .worker])
            #expect(try await service.drainedHosts() == ["h"])

            #expect(await reason { _ = try await service.undrain("w3") } == .workerUnknown(name: "w3"))
            #expect(try await service.undrain("w1") == .hostIsDrained(WorkerID("w1"), host: "h"))
            #expect(try await service.undrain("h") == .undrained("h", .host, butNot: [WorkerID("w2")]))
            #expect(try await service.undrain("h") == .wasNotDrained("h"))
            #expect(try await service.undrain("w2") == .undrained("w2", .worker, butNot: []))
            #expect(try await service.undrain("w2") == .wasNotDrained("w2"))

            try fixture.raw("ZADD", "reel2:{main}:workers", "1", "w2")
            #expect(try await service.drain("w2") == .gone(WorkerID("w2")))
            #expect(try await service.drain("h") == .drained("h", .host, workers: 1))
            // A host without workers is known as long as it is drained.
            for name in ["w1", "w2"] { try await fixture.board.depart(WorkerID(name)) }
            #expect(try await service.undrain("h") == .undrained("h", .host, butNot: []))
            #expect(await reason { _ = try await service.undrain("h") } == .workerUnknown(name: "h"))
        }
    }

    /// Webhooks between a submission, the store and the board.
    @Suite struct Webhooks {
        let fixture: JobFixture
        init() async throws { fixture = try await JobFixture() }

        private func posted(_ urls: String...) async throws -> JobID {
            var job = try fixture.job()
            job.webhooks = urls
            return try await fixture.service.post(job).id
        }

        /// The URLs that the board has of a job.
        private func kept(_ id: JobID) throws -> Set<String> {
            Set(try fixture.raw("HKEYS", "reel2:{main}:job:\(id):webhooks").split(separator: "\n").map(String.init))
        }

        private func record(_ id: JobID) throws -> JobRecord { try fixture.store.job(id).read() }

        @Test func aJobThatIsPostedAgainGetsTheOtherWebhooksToo() async throws {
            let id = try await posted("https://a.example/")
            #expect(try record(id).webhooks == ["https://a.example/"])
            #expect(try await posted("https://b.example/") == id)
            #expect(try kept(id) == ["https://a.example/", "https://b.example/"])
            #expect(try await fixture.service.dueWebhook() == nil)
            _ = try await fixture.service.cancel(id)
            var told: Set<String> = []
            while let due = try await fixture.service.dueWebhook() {
                #expect(try await fixture.service.settle(due, .sent) == .sent)
                told.insert(due.url)
            }
            #expect(told == ["https://a.example/", "https://b.example/"])
            // Anew, it is the job of those alone that post it then.
            #expect(try await posted("https://c.example/") == id)
            #expect(try kept(id) == ["https://c.example/"])
            #expect(try record(id).webhooks == ["https://c.example/"])
        }

        @Test func aNinthIsRefused() async throws {
            for number in 0..<BoardPolicy.webhooksKept { _ = try await posted("https://\(number).example/") }
            let failure = await #expect(throws: ReelFailure.self) { try await posted("https://other.example/") }
            let id = try fixture.job().id
            #expect(failure?.reason == .webhooksTooMany(job: id, most: BoardPolicy.webhooksKept))
            #expect(try await fixture.board.state(of: id) == .probing)
        }

        @Test func aBoardThatIsRebuiltHasThoseOfTheRecord() async throws {
            let id = try await posted("https://a.example/")
            try fixture.raw("FLUSHALL")
            try await fixture.service.join()
            #expect(try await fixture.service.recover().count == 1)
            #expect(try kept(id) == ["https://a.example/"])
            // The same if the job is posted again instead.
            try fixture.raw("FLUSHALL")
            try await fixture.service.join()
            #expect(try await posted("https://b.example/") == id)
            #expect(try kept(id) == ["https://a.example/", "https://b.example/"])
        }

        @Test func aJobThatOnlyTheStoreHasTakesNone() async throws {
            let id = try fixture.finish(fixture.job())
            let failure = await #expect(throws: ReelFailure.self) { try await posted("https://a.example/") }
            #expect(failure?.reason == .jobNotOnBoard(job: id))
        }
    }
}
