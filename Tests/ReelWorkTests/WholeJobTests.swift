import ReelBoardModel
import ReelCore
import ReelEngine
import ReelJobs
import ReelQueue
import ReelStore
import ReelWork
import Synchronization
import Testing

/// Small jobs, which a slot does as a whole with one engine.
@Suite struct WholeJobTests {
    /// Puts a job of one pass on the board, with planning that no process holds.
    private func begin(_ worker: WorkerFixture) async throws -> JobRecord {
        let spec = JobSpec(container: .mkv, crf: 20, passFrames: WorkerFixture.frames)
        let record = try JobRecord(submitting: [worker.source], spec: spec)
        try await worker.board.release(try await worker.holdProbe(record))
        return record
    }

    @Test(arguments: [WorkerFixture.StoreKind.memory, .folder])
    func itIsOneClaimAndOneEngine(_ kind: WorkerFixture.StoreKind) async throws {
        try await withWorker(store: kind) { worker in
            let record = try await begin(worker)
            try await worker.workToEnd(of: record.id)
            #expect(worker.engines.starts == 1)
            #expect((worker.engines.recons, worker.engines.passes, worker.engines.assemblies) == (1, [0], 1))
            #expect(await worker.board.calls["complete"] == nil)
            let status = try await worker.status(record.id)
            #expect((status.state, status.passes.done, status.framesEncoded) == (.done, 1, WorkerFixture.frames))
            #expect(status.failures == [])
            let entry = worker.store.job(record.id)
            #expect(try await entry.read().state == .done)
            #expect(try await entry.storedResult().verify().bytes > 0)
            #expect(await !entry.hasFinishedSegments)
            #expect(await worker.claimer.memoryReserved == 0)
            #expect(worker.log.lines.contains("finished all of job \(record.id): 1 passes"))
        }
    }

    /// Nothing but board and store is between the process that submits a list and the workers.
    @Test func aListIsPlannedAndDoneByWorkers() async throws {
        try await withWorker(store: .folder) { worker in
            let board = worker.board
            let service = JobService(store: worker.store) { board }
            let jobs = try (0..<6).map { number in
                let spec = JobSpec(container: .mkv, crf: 20 + Double(number), passFrames: WorkerFixture.frames)
                return try JobRecord(submitting: [worker.source], spec: spec)
            }
            var told: [JobID] = []
            try await service.post(jobs) { _, job in
                if case .success(let job) = job { told.append(job.id) }
            }
            #expect(told == jobs.map(\.id))
            // The submitter read nothing, and left no claim behind.
            #expect(worker.engines.starts == 0)
            for job in jobs { #expect(try await worker.held(job.id) == []) }
            try await worker.work(slots: 2) {
                for job in jobs {
                    guard try await board.state(of: job.id)?.isTerminal == true else { return false }
                }
                return worker.environment.passes.report.isEmpty
            }
            for job in jobs {
                let status = try await worker.status(job.id)
                #expect((status.state, status.failures) == (.done, []))
                #expect(try await worker.store.job(job.id).storedResult().verify().bytes > 0)
            }
            #expect(worker.engines.starts == jobs.count)
        }
    }

    /// The engine may write outputs of gigabytes, and the worker reads the index into its memory.
    @Test func anIndexThatIsTooLongIsNotRead() async throws {
        try await withWorker { worker in
            worker.engines.padIndexes(by: 17 << 20)
            let record = try await begin(worker)
            try await worker.work { try await !worker.status(record.id).failures.isEmpty }
            let reasons = try await worker.status(record.id).failures.first?.recent.map(\.reason.reason)
            let place = EnginePlace.recon(source: worker.source)
            #expect(
                reasons?.first == .engineNonsense(place: place, nonsense: .unfitResult(part: .numbers), lastWords: nil))
            #expect(try await worker.store.source(record.source.fingerprint).index(.index) == nil)
        }
    }

    @Test(arguments: [true, false])
    func onlySegmentsInTheStoreMustBeDurable(isSmall: Bool) async throws {
        try await withWorker { worker in
            let places = Mutex<[SegmentPlace]>([])
            worker.engines.answer { request in
                if case .reverse(let pass) = request {
                    places.withLock { $0 += pass.segments.compactMap(\.self) }
                }
                return .result
            }
            try await worker.workToEnd(of: isSmall ? begin(worker).id : worker.begin().id)
            #expect(places.withLock(\.self).map(\.isDurable) == (isSmall ? [false] : [true, true, true, true]))
        }
    }

    @Test func aJobOfSeveralPassesIsSharedOut() async throws {
        try await withWorker { worker in
            let record = try await worker.begin()
            try await worker.workToEnd(of: record.id)
            #expect(worker.engines.passes == [0, 1, 2, 3])
            #expect(await worker.board.calls["complete"] == 5)
        }
    }

    /// Whatever ends it, the passes are tried one by one after that, as those of any job, and charged.
    @Test(arguments: ["failure", "crash", "misreport", "assembly"])
    func whatFailsIsLeftToOrdinaryAttempts(_ fault: String) async throws {
        try await withWorker { worker in
            let isFirst = Mutex(true)
            worker.engines.answer { request in
                guard (request.pass == nil) == (fault == "assembly"), isFirst.withLock({ $0 }) else { return .result }
                isFirst.withLock { $0 = false }
                return switch fault {
                case "crash": .crash
                case "misreport": .misreport
                default: .failure(.of(.transient))
                }
            }
            let record = try await begin(worker)
            try await worker.workToEnd(of: record.id)
            #expect(worker.engines.passes == [0, 0])
            let step = fault == "assembly" ? "the assembly" : "pass 0"
            let said = worker.log.lines.filter { $0.contains(" was not done as a whole, since ") }
            #expect(said.count == 1)
            #expect(said.first?.hasPrefix("job \(record.id) was not done as a whole, since \(step) failed: ") == true)
            let status = try await worker.status(record.id)
            #expect((status.state, status.framesEncoded) == (.done, WorkerFixture.frames))
            #expect(status.failures == [])
            #expect(try await worker.store.job(record.id).storedResult().verify().bytes > 0)
        }
    }

    /// The record says that the job is done before the board is asked, which knows that a user cancelled it.
    @Test func aCancellationCountsUntilTheBoardKnowsTheEnd() async throws {
        try await withWorker { worker in
            worker.engines.answer { if case .assemble = $0 { .wait } else { .result } }
            let record = try await begin(worker)
            let slots = worker.start()
            try await until { worker.engines.waiting == 1 }
            #expect(try await worker.board.cancel(record.id))
            worker.engines.letGo()
            try await until { worker.environment.passes.report.isEmpty }
            #expect(try await worker.store.job(record.id).read().state == .cancelled)
            worker.environment.drain.stopNow()
            try await slots.end()
        }
    }

    /// A worker that is killed leaves nothing that another one would take for a result.
    @Test func anotherWorkerDoesItAllAnew() async throws {
        try await withWorker { worker in
            worker.engines.answer { if case .assemble = $0 { .wait } else { .result } }
            let record = try await begin(worker)
            let slots = worker.start()
            try await until { worker.engines.waiting == 1 }
            worker.environment.drain.stopNow()
            try await slots.end()
            #expect(try await worker.board.state(of: record.id) == .probing)
            worker.engines.answer { _ in .result }
            let other = try await worker.another("w2")
            try await other.workToEnd(of: record.id)
            #expect(try await worker.status(record.id).failures == [])
            #expect(worker.engines.recons == 1)
            #expect(try await worker.store.job(record.id).storedResult().verify().bytes > 0)
        }
    }
}
