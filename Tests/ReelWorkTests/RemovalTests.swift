import ReelBoardModel
import ReelCore
import ReelEngine
import ReelJobs
import ReelQueue
import ReelStore
import ReelWork
import Synchronization
import Testing

/// Jobs that a user has run again, or submits again, while they are removed: one of the two happens, as a whole.
@Suite struct RemovalTests {
    enum Remover: CaseIterable {
        case janitor, user

        func remove(_ job: JobID, of worker: WorkerFixture) async throws {
            switch self {
            case .janitor: await Janitor(worker.environment).clean()
            case .user: _ = try await worker.service.remove(job)
            }
        }
    }

    @Test(arguments: Remover.allCases)
    func aJobThatIsRetriedWhenTheBoardHasForgottenIt(remover: Remover) async throws {
        try await withWorker { worker in
            let job = try await worker.publishFailed()
            await worker.board.afterForgetting { #expect((try? await worker.service.retry(job.id)) == .retried) }
            let isRefused = await reason { try await remover.remove(job.id, of: worker) } != nil
            #expect(isRefused == (remover == .user))
            #expect(try await worker.board.state(of: job.id) == .running)
            #expect(try await job.entry.read().state == nil)
            try await worker.workToEnd(of: job.id)
            #expect(try await worker.board.state(of: job.id) == .done)
            #expect(try await job.entry.read().result != nil)
        }
    }

    @Test(arguments: Remover.allCases)
    func aJobThatIsSubmittedWhenTheBoardHasForgottenIt(remover: Remover) async throws {
        try await withWorker { worker in
            let job = try await worker.publishFailed()
            await worker.board.afterForgetting {
                #expect((try? await worker.service.post(job.record))?.state == .probing)
            }
            _ = await reason { try await remover.remove(job.id, of: worker) }
            #expect(try await job.entry.read().state == nil)
            try await worker.workToEnd(of: job.id)
            #expect(try await job.entry.read().result != nil)
        }
    }

    @Test func aRemovedJobCannotBeRetried() async throws {
        try await withWorker { worker in
            let job = try await worker.publishFailed()
            #expect(try await worker.service.remove(job.id) == .removed)
            #expect(await reason { _ = try await worker.service.retry(job.id) } == .jobUnknown(job: job.id))
        }
    }

    /// A worker that learns of the failure, while a user has the job run again, writes it last.
    @Test func theFailureOfBeforeIsNotWrittenOverARetriedJob() async throws {
        try await withWorker { worker in
            let job = try await worker.publishFailed()
            let read = Mutex<JobRecord?>(nil)
            await worker.board.beforeRetrying {
                let record = try? await job.entry.read()
                read.withLock { $0 = record }
            }
            #expect(try await worker.service.retry(job.id) == .retried)
            let seen = try #require(read.withLock { $0 })
            var ended = seen
            ended.end(.failed, at: 2_000_000_001)
            #expect(try await !job.entry.replace(seen, with: ended))
            #expect(try await job.entry.read().state == nil)
        }
    }

    /// Every step of the one may come between any two of the other.
    @Test(arguments: Remover.allCases, [WorkerFixture.StoreKind.memory, .folder])
    func aJobIsRetriedOrRemoved(remover: Remover, kind: WorkerFixture.StoreKind) async throws {
        try await withWorker(store: kind) { worker in
            for round in 0..<60 {
                let job = try await worker.publishFailed()
                async let retry = reason {
                    for _ in 0..<(round % 12) { await Task.yield() }
                    _ = try await worker.service.retry(job.id)
                }
                async let removal = reason { try await remover.remove(job.id, of: worker) }
                let isRetried = await retry == nil
                _ = await removal
                let state = try await worker.board.state(of: job.id)
                let record = try? await job.entry.read()
                #expect(state == (isRetried ? .running : nil), "round \(round)")
                #expect((record != nil) == isRetried && record?.state == nil, "round \(round)")
                if isRetried {
                    #expect(try await worker.service.cancel(job.id) == .cancelled)
                    #expect(try await worker.service.remove(job.id) == .removed)
                }
            }
        }
    }
}

extension WorkerFixture {
    var service: JobService {
        let board = board
        return JobService(store: store) { board }
    }

    /// A job that has failed, and is kept no longer than until now.
    fileprivate func publishFailed() async throws -> StoredJob {
        let job = try await publish()
        let offer = WorkerOffer(
            worker: worker, memoryFree: WorkerFixture.memory, encoders: FakeEngines.identity.encoders,
            protocolVersion: Wire.version)
        let claim = try #require(try await board.claim(offer))
        let answer = try await board.fail(claim, worker: worker, failure: .of(.permanent), recordingIn: job.entry)
        #expect(answer == .jobFailed)
        let ended = try await job.entry.change { $0.terms.retain = 0 }
        let now = try #require(ended.finished) + 1
        await board.set(Clocks(board: now, host: now))
        return job
    }
}

/// The reason of a failure; nil if there is none.
private func reason(_ body: () async throws -> Void) async -> FailureReason? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? ReelFailure)?.reason
    }
}
