import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
import Testing

extension ServiceTests {
    /// What users can do to a job in each state.
    @Suite struct ControlTests {
        private func expectUnknown(
            _ bench: JobBench, _ id: JobID, sourceLocation: SourceLocation = #_sourceLocation
        ) async {
            let service = bench.service
            for change in [service.cancel, service.pause, service.resume, service.retry, service.remove] {
                #expect(
                    await reason { _ = try await change(id) } == .jobUnknown(job: id), sourceLocation: sourceLocation)
            }
        }

        @Test func unknownJobs() async throws {
            await expectUnknown(try await JobBench(), JobID("0123456789abcdef"))
        }

        @Test func aRunningJob() async throws {
            let bench = try await JobBench()
            let (service, id) = (bench.service, try await bench.publish(bench.job()))
            #expect(await reason { _ = try await service.retry(id) } == .jobNotFailed(job: id, state: .running))
            #expect(await reason { _ = try await service.remove(id) } == .jobNotEnded(job: id, state: .running))
            for _ in 0..<2 {
                #expect(try await service.pause(id) == .paused)
                #expect(try await service.view(id).paused)
                #expect(try bench.store.job(id).read().paused)
            }
            for _ in 0..<2 {
                #expect(try await service.resume(id) == .resumed)
                #expect(try await !service.view(id).paused)
                #expect(try !bench.store.job(id).read().paused)
            }
            #expect(try await service.cancel(id) == .cancelled)
            #expect(try await service.view(id).state == .cancelled)
            #expect(try bench.store.job(id).read().state == .cancelled)
        }

        @Test func aCancelledJob() async throws {
            let bench = try await JobBench()
            let (service, id) = (bench.service, try await bench.publish(bench.job()))
            #expect(try await service.cancel(id) == .cancelled)
            #expect(try await service.cancel(id) == .hadEnded(.cancelled))
            #expect(await reason { _ = try await service.pause(id) } == .jobEnded(job: id, state: .cancelled))
            #expect(await reason { _ = try await service.resume(id) } == .jobEnded(job: id, state: .cancelled))
            #expect(await reason { _ = try await service.retry(id) } == .jobNotFailed(job: id, state: .cancelled))
            #expect(try await service.remove(id) == .removed)
            await expectUnknown(bench, id)
        }

        @Test func aFailedJob() async throws {
            let bench = try await JobBench()
            let (service, id) = (bench.service, try await bench.publish(bench.job()))
            try await bench.fail(id)
            #expect(try await service.cancel(id) == .hadEnded(.failed))
            #expect(await reason { _ = try await service.pause(id) } == .jobEnded(job: id, state: .failed))
            #expect(try await service.retry(id) == .retried)
            #expect(try await service.view(id).state == .running)
            try await bench.fail(id)
            #expect(try await service.remove(id) == .removed)
            await expectUnknown(bench, id)
        }

        @Test func aJobThatIsDoneAndThatTheBoardHasForgotten() async throws {
            let bench = try await JobBench()
            let (service, id) = (bench.service, try bench.finish(bench.job()))
            #expect(try await service.cancel(id) == .hadEnded(.done))
            #expect(await reason { _ = try await service.pause(id) } == .jobEnded(job: id, state: .done))
            #expect(await reason { _ = try await service.retry(id) } == .jobNotFailed(job: id, state: .done))
            #expect(try await service.recover().isEmpty)
            #expect(try await service.remove(id) == .removed)
            #expect(try bench.store.jobs().isEmpty)
        }

        @Test func anUnfinishedJobThatTheBoardHasLost() async throws {
            let bench = try await JobBench()
            let (service, job) = (bench.service, try bench.job())
            let id = job.id
            try bench.plan(job)
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

        @Test func workersAreDrainedByTheirNameOrTheirHosts() async throws {
            let bench = try await JobBench()
            for name in ["w1", "w2"] {
                _ = try await bench.board.beat(
                    WorkerReport(
                        worker: WorkerID(name), host: "h", slots: 1, memoryTotal: 1000, encoders: [],
                        protocolVersion: 1, held: []))
            }
            #expect(await reason { _ = try await bench.service.drain("w3") } == .workerUnknown(name: "w3"))
            #expect(try await bench.service.drain("w2") == [WorkerID("w2")])
            #expect(try await bench.service.workers().map(\.draining) == [false, true])
            #expect(try await bench.service.drain("h") == [WorkerID("w1"), WorkerID("w2")])
            #expect(try await bench.service.workers().map(\.draining) == [true, true])
        }
    }
}
