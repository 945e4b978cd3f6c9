import Foundation
import ReelBoardModel
import ReelCore
import ReelEngine
import ReelJobs
import ReelMemoryStore
import ReelQueue
import ReelStore
import ReelWork
import Testing

/// A whole worker, from its first look at the board to its end.
@Suite struct WorkerTests {
    private func worker(_ fixture: WorkerFixture) -> Worker {
        Worker(
            boards: BoardConnections { [board = fixture.board] _ in board }, store: fixture.store,
            engines: fixture.engines,
            settings: WorkerSettings(slots: 2, memoryTotal: WorkerFixture.memory, scratch: fixture.folder + "/scratch"),
            log: fixture.log.logger)
    }

    @Test func itDoesJobsAndLeavesTheRegistry() async throws {
        try await withWorker { fixture in
            try await fixture.board.depart(fixture.worker)
            let record = try await fixture.begin()
            let began = ContinuousClock.now
            let worker = worker(fixture)
            defer { worker.endNow() }
            let running = Task { try await worker.run() }
            try await until { try await fixture.board.state(of: record.id) == .done }
            let report = try #require(try await fixture.board.workers().first?.report)
            #expect(report.slots == 2)
            #expect(report.version == Release.version)
            #expect(report.store == fixture.store.name)
            #expect((0...began.duration(to: .now) / .seconds(1)).contains(report.uptime ?? -1))
            worker.endNow()
            try await running.value
            #expect(try await fixture.board.workers().isEmpty)
            #expect(fixture.engines.running == 0)
            #expect(await fixture.board.model.leases.isEmpty)
        }
    }

    @Test func itDoesNotWorkAtTheBoardOfAnotherStore() async throws {
        try await withWorker { fixture in
            let other = try MemoryStore()
            _ = other.establish()
            try await other.join(fixture.board)
            let board = try #require(other.identity())
            let store = try #require(await fixture.store.identity())
            await #expect(throws: ReelFailure(.storeDiffers(path: fixture.store.name, store: store, board: board))) {
                try await worker(fixture).run()
            }
            #expect(await fixture.board.calls["claim"] == nil)
        }
    }

    @Test func itWaitsForABoardThatIsOutOfReach() async throws {
        try await withWorker { fixture in
            await fixture.board.setOutage(ModelBoard.unreachable)
            let worker = worker(fixture)
            defer { worker.endNow() }
            let running = Task { try await worker.run() }
            try await until { fixture.log.lines.contains { $0.hasPrefix("waiting for Redis") } }
            worker.endNow()
            try await running.value
            #expect(await fixture.board.calls["claim"] == nil)
        }
    }
}
