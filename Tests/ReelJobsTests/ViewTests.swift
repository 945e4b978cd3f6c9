import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
import Testing

extension ServiceTests {
    /// What a service tells of jobs.
    @Suite struct ViewTests {
        @Test func unknownJobs() async throws {
            let bench = try await JobBench()
            let id = JobID("0123456789abcdef")
            #expect(await reason { _ = try await bench.service.view(id) } == .jobUnknown(job: id))
            #expect(try await bench.service.strip(id, cells: 10) == nil)
            #expect(try await bench.service.jobs().jobs.isEmpty)
            #expect(try await bench.service.queue().jobs.isEmpty)
            #expect(try await bench.service.workers().isEmpty)
        }

        @Test func anIDThatWouldLeadOutOfTheStore() async throws {
            let bench = try await JobBench()
            try bench.finish(bench.job())
            let id = JobID("../jobs/\(try bench.job().id)")
            #expect(await reason { _ = try await bench.service.view(id) } == .jobUnknown(job: id))
        }

        @Test func aJobThatWaitsSaysWhyInTheProgramsWords() async throws {
            let bench = try await JobBench()
            let id = try await bench.publish(bench.job())
            let board = bench.board
            let service = JobService(store: nil, advice: { $0 == .noWorker ? "start one" : nil }, board: { board })
            let view = try await service.view(id)
            #expect(view.waitCode == "no-worker")
            #expect(view.waitReason == "no worker is connected: start one")
            #expect(try await service.queue().jobs.map(\.waitReason) == [view.waitReason])
            #expect(try await bench.service.view(id).waitReason == "no worker is connected")
        }

        @Test func onlyTheStoreKnowsAJobThatTheBoardHasForgotten() async throws {
            let bench = try await JobBench()
            let id = try bench.finish(bench.job())
            let view = try await bench.service.view(id)
            #expect(view.state == .done)
            #expect(view.framesEncoded == 20)
            #expect(view.outputSha256 == JobBench.outputHash)
            let board = bench.board
            let blind = JobService(store: nil) { board }
            #expect(await reason { _ = try await blind.view(id) } == .jobUnknown(job: id))
        }
    }
}
