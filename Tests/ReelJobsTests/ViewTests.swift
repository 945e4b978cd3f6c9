import ReelCore
import ReelJobs
import ReelQueue
import ReelStore
import Testing

extension ServiceTests {
    /// What a service tells of jobs.
    @Suite struct ViewTests {
        @Test func unknownJobs() async throws {
            let fixture = try await JobFixture()
            let id = JobID("0123456789abcdef")
            #expect(await reason { _ = try await fixture.service.view(id) } == .jobUnknown(job: id))
            #expect(try await fixture.service.strip(id, cells: 10) == nil)
            #expect(try await fixture.service.jobs().jobs.isEmpty)
            #expect(try await fixture.service.queue().jobs.isEmpty)
            #expect(try await fixture.service.workers().isEmpty)
        }

        @Test func anIDThatWouldLeadOutOfTheStore() async throws {
            let fixture = try await JobFixture()
            try fixture.finish(fixture.job())
            let id = JobID("../jobs/\(try fixture.job().id)")
            #expect(await reason { _ = try await fixture.service.view(id) } == .jobUnknown(job: id))
        }

        @Test func aJobThatWaitsSaysWhyInTheProgramsWords() async throws {
            let fixture = try await JobFixture()
            let id = try await fixture.publish(fixture.job())
            let board = fixture.board
            let service = JobService(store: nil, advice: { $0 == .noWorker ? "start one" : nil }, board: { board })
            let view = try await service.view(id)
            #expect(view.waitCode == "no-worker")
            #expect(view.waitReason == "no worker is connected: start one")
            #expect(try await service.queue().jobs.map(\.waitReason) == [view.waitReason])
            #expect(try await fixture.service.view(id).waitReason == "no worker is connected")
        }

        @Test func onlyTheStoreKnowsAJobThatTheBoardHasForgotten() async throws {
            let fixture = try await JobFixture()
            let id = try fixture.finish(fixture.job())
            let view = try await fixture.service.view(id)
            #expect(view.state == .done)
            #expect(view.framesEncoded == 20)
            #expect(view.outputSha256 == JobFixture.outputHash)
            let board = fixture.board
            let blind = JobService(store: nil) { board }
            #expect(await reason { _ = try await blind.view(id) } == .jobUnknown(job: id))
        }
    }
}
