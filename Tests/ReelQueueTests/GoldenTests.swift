import Foundation
import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

/// JSON that the board keeps, byte for byte: a renamed property must not change stored data.
@Suite struct GoldenTests {
    private func check<Value: Codable & Equatable>(_ value: Value, _ name: String) throws {
        try Golden.expect(Golden.lines([value]), is: name + ".json")
        #expect(try JSONDecoder().decode(Value.self, from: Data(Golden.read(name + ".json"))) == value)
    }

    @Test func aPublishedJob() throws {
        try check(
            BoardJob(
                id: JobID("a1"), source: "/films/film.mkv", frames: 240, passCount: 3, audioPasses: 1, need: 1 << 30,
                encoders: ["libx264 164", "aac 59"], protocolVersion: 4, weight: 0.5, encodingEffort: 9.5,
                diagnostics: [.redisEvicts(address: "redis://host:6379")], plan: 2, planHash: "0f5a"), "published-job")
    }

    @Test func aWorkersReport() throws {
        try check(
            WorkerReport(
                worker: WorkerID("host-1-77"), host: "host", slots: 4, slotsOut: 1, memoryTotal: 8 << 30,
                encoders: ["libx264 164"], protocolVersion: 4, version: "0.1.0", store: "/srv/reel",
                uptime: 90, notes: [.workerDiskFull(folders: ["/tmp"])],
                held: [
                    WorkerReport.Held(
                        job: JobID("a1"), index: -1, token: "t", plan: 0, decoded: 3, encoded: 2, wholeChunks: 1,
                        frames: 9)
                ]), "worker-report")
    }
}
