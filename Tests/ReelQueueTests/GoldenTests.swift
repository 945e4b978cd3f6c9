import Foundation
import ReelCore
import ReelQueue
import Testing

/// What the board keeps as JSON, byte for byte: what is stored does not change because something is renamed.
@Suite struct GoldenTests {
    static let folder = URL(fileURLWithPath: #filePath).appendingPathComponent("../Golden").standardized

    private func check<Value: Codable & Equatable>(_ value: Value, _ name: String) throws {
        let golden = try Data(contentsOf: GoldenTests.folder.appendingPathComponent(name + ".json"))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let stored = String(decoding: golden, as: UTF8.self).trimmingCharacters(in: .newlines)
        #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == stored)
        #expect(try JSONDecoder().decode(Value.self, from: golden) == value)
    }

    @Test func aPublishedJob() throws {
        try check(
            PublishedJob(
                id: JobID("a1"), source: "/films/film.mkv", frames: 240, passCount: 3, need: 1 << 30,
                encoders: ["libx264 164", "aac 59"], protocolVersion: 4, weight: 0.5, encodingEffort: 9.5,
                diagnostics: [.redisEvicts(address: "redis://host:6379")], plan: 2), "published-job")
    }

    @Test func aWorkersReport() throws {
        try check(
            WorkerReport(
                worker: WorkerID("host-1-77"), host: "host", slots: 4, slotsOut: 1, memoryTotal: 8 << 30,
                encoders: ["libx264 164"], protocolVersion: 4, notes: [.workerDiskFull(folders: ["/tmp"])],
                held: [
                    WorkerReport.Held(
                        job: JobID("a1"), index: -1, token: "t", plan: 0, decoded: 3, encoded: 2, wholeChunks: 1)
                ]), "worker-report")
    }
}
