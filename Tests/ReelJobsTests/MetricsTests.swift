import Foundation
import ReelJobs
import ReelQueue
import ReelTestSupport
import Testing

extension ServiceTests {
    /// What monitoring and autoscalers ask for.
    @Suite struct Metrics {
        @Test func countersAndStates() async throws {
            let fixture = try await JobFixture()
            let id = try await fixture.publish(fixture.job())
            try await fixture.fail(id)
            try await fixture.publish(fixture.job("other"))
            _ = try await fixture.claim()
            let metrics = try await fixture.service.metrics()
            #expect(
                metrics.jobs == [
                    "probing": 0, "running": 1, "assembling": 0, "paused": 0, "done": 0, "failed": 1, "cancelled": 0,
                    "unreadable": 0,
                ])
            #expect(metrics.jobsEnded == ["done": 0, "failed": 1, "cancelled": 0])
            #expect(metrics.passes == ["ready": 1, "live": 1, "retrying": 0, "paused": 0, "done": 0])
            #expect(metrics.slots == ["busy": 0, "free": 0, "out": 0, "drained": 0])
            #expect((metrics.workers, metrics.leasesLost) == (0, 0))
            // The probes of two jobs and a failed pass.
            #expect(
                metrics.passAttempts.filter { $0.count > 0 }.map { "\($0.outcome) \($0.cause ?? "-") \($0.count)" }
                    == ["done - 2", "failed permanent 1"])
            #expect(metrics.passAttempts.count == 10)
            #expect(metrics.passWait.count == 2)
            #expect(metrics.passWait.buckets.map(\.le) == [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3600])
            // Each bucket has those below it, too.
            #expect(metrics.passWait.buckets.last?.count == 2)
            #expect(metrics.passDuration.count == 0)
            #expect(metrics.oldestReadySeconds ?? -1 >= 0)
            let coded = try JSONDecoder().decode(MetricsView.self, from: JSONEncoder().encode(metrics))
            #expect(coded == metrics)
        }

        @Test func demandIsAnObjectOfItsName() async throws {
            let fixture = try await JobFixture()
            func demand() async throws -> [String: Double] {
                let data = try JSONEncoder().encode(try await fixture.service.demand())
                return try JSONDecoder().decode([String: [String: Double]].self, from: data)["demand"] ?? [:]
            }
            #expect(
                try await demand() == ["slotsWanted": 0, "slotsBusy": 0, "passesReady": 0, "passesInFlight": 0])
            try await fixture.publish(fixture.job())
            _ = try await fixture.claim()
            let found = try await demand()
            #expect(found["oldestReadySeconds"] ?? -1 >= 0)
            #expect(
                found.filter { $0.key != "oldestReadySeconds" }
                    == ["slotsWanted": 1, "slotsBusy": 0, "passesReady": 1, "passesInFlight": 1])
        }

        @Test func ratesAreMinutes() async throws {
            let fixture = try await JobFixture()
            let clock = try await fixture.board.clocks().board
            try fixture.raw("HSET", "reel2:{main}:pace", "m0", "\(Int(clock / 60) - 2) 120 60")
            let rates = try await fixture.service.rates()
            #expect(rates.minutes.count == 60)
            let busy = rates.minutes.filter { $0.framesPerSecond > 0 }
            #expect(busy.map(\.time) == [(Int(clock / 60) - 2) * 60])
            #expect(busy.map(\.framesPerSecond) == [2] && busy.map(\.passesPerSecond) == [1])
            let text = String(decoding: try JSONEncoder().encode(rates), as: UTF8.self)
            #expect(text.hasPrefix(#"{"minutes":[{"#))
        }
    }
}
