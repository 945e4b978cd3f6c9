import Crypto
import Foundation
import Synchronization
import Testing

extension EndToEnd {
    /// Jobs whose records several programs change while the jobs end: the board, the record, the server and the result agree on
    /// each in the end.
    @Suite struct RecordTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private static let jobs = 12

        /// What was acknowledged of a job's changes last, and whether it can be cancelled no more.
        private struct Told: Sendable {
            var name: String?
            var weight: Double?
            var labels: [String: String]?
            var isCancelled = false
        }

        @Test func changesAndCancellationsWhileJobsEnd() async throws {
            let source = fixture.path("clip.mp4")
            let made = try await fixture.run(
                .ffmpeg,
                [
                    "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=30000/1001:duration=1", "-c:v",
                    "libx264", "-g", "15", source,
                ])
            try #require(made.code == 0, "\(made.error)")
            try await Fleet.with(fixture, workers: 2) { fleet in
                try await WebServer.with(fleet, ["--sources", fixture.folder]) { server in
                    let told = try await withThrowingTaskGroup(of: (String, Told).self) { group in
                        for number in 0..<RecordTests.jobs {
                            let answer = try await server.send(
                                "POST", "/api/v1/jobs",
                                ["source": source, "options": ["crf": 10 + number, "passFrames": 15]])
                            try #require(answer.status == 201, "\(answer.text)")
                            let id = try #require(try answer.object()["id"] as? String)
                            group.addTask {
                                (id, try await change(id, cancelling: number % 3 == 0, fleet, server))
                            }
                        }
                        return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                    }
                    #expect(told.count == RecordTests.jobs)
                    for (id, told) in told { try await expectAgreement(id, told, fleet, server) }
                    #expect(told.values.contains { $0.name != nil && $0.labels != nil && !$0.isCancelled })
                }
            }
        }

        // MARK: Clients

        /// Has three clients of a server change a job until it has ended.
        private func change(
            _ id: String, cancelling: Bool, _ fleet: Fleet, _ server: WebServer
        ) async throws -> Told {
            let hasEnded = Atomic(false)
            async let labels = label(id, server) { hasEnded.load(ordering: .acquiring) }
            async let isCancelled = cancelling ? cancelNearTheEnd(id, fleet, server) : false
            var told = Told()
            // A job that has ended takes no other weight, and then no other name from the same request.
            for number in 1... {
                let (name, weight) = ("\(id) \(number)", Double(number % 100 + 1))
                let answer = try await server.send("PATCH", "/api/v1/jobs/\(id)", ["name": name, "weight": weight])
                guard answer.status == 200 else {
                    #expect(answer.code == "job-ended", "\(answer.text)")
                    break
                }
                (told.name, told.weight) = (name, weight)
                try await Task.sleep(for: .milliseconds(40))
            }
            hasEnded.store(true, ordering: .releasing)
            told.labels = try await labels
            told.isCancelled = try await isCancelled
            return told
        }

        /// Gives a job other labels until it has ended, and once more. Returns the last that were acknowledged.
        private func label(
            _ id: String, _ server: WebServer, until hasEnded: @Sendable () -> Bool
        ) async throws -> [String: String]? {
            var told: [String: String]?
            var number = 0
            var isLast = false
            repeat {
                isLast = hasEnded()
                number += 1
                let labels = ["round": "\(number)"]
                let answer = try await server.send("PATCH", "/api/v1/jobs/\(id)", ["labels": labels])
                #expect(answer.status == 200, "\(answer.text)")
                if answer.status == 200 { told = labels }
                try await Task.sleep(for: .milliseconds(40))
            } while !isLast
            return told
        }

        /// Cancels a job when its passes are done, or nearly. Returns whether the server says that it is cancelled.
        private func cancelNearTheEnd(_ id: String, _ fleet: Fleet, _ server: WebServer) async throws -> Bool {
            let isNear = try await eventually {
                let sight = try fleet.sight(id)
                return !["probing", "running"].contains(sight.state)
                    || sight.passes > 0 && sight.done.count >= sight.passes - 1
            }
            #expect(isNear)
            let answer = try await server.send("POST", "/api/v1/jobs/\(id)/cancel")
            if answer.status == 200 { return try answer.object()["state"] as? String == "cancelled" }
            #expect(answer.code == "job-ended", "\(answer.text)")
            return false
        }

        // MARK: What is known in the end

        private func expectAgreement(_ id: String, _ told: Told, _ fleet: Fleet, _ server: WebServer) async throws {
            let state = told.isCancelled ? "cancelled" : "done"
            #expect(try await eventually { try fleet.sight(id).state == state }, "\(id)")
            // A worker that loses the race says so in the record after that.
            #expect(try await eventually { fleet.record(of: id)?["state"] as? String == state }, "\(id)")
            let record = try #require(fleet.record(of: id))
            let view = try await server.get("/api/v1/jobs/\(id)").object()
            #expect(view["state"] as? String == state)

            let submission = record["submission"] as? [String: Any]
            let weight = (record["terms"] as? [String: Any])?["weight"] as? Double
            if let name = told.name { #expect(submission?["name"] as? String == name) }
            if let number = told.weight { #expect(weight == number) }
            if let labels = told.labels { #expect(submission?["labels"] as? [String: String] == labels) }
            #expect(view["name"] as? String == submission?["name"] as? String)
            #expect(view["labels"] as? [String: String] == submission?["labels"] as? [String: String])
            #expect(view["weight"] as? Double == weight)

            let output = try await server.get("/api/v1/jobs/\(id)/output")
            let retried = try await server.send("POST", "/api/v1/jobs/\(id)/retry")
            #expect(retried.code == "job-not-failed", "\(retried.text)")
            guard !told.isCancelled else {
                #expect(output.code == "no-result", "\(output.status)")
                #expect(view["outputSha256"] == nil || view["outputSha256"] is NSNull)
                return
            }
            let hash = SHA256.hash(data: output.body).map { String(format: "%02x", $0) }.joined()
            #expect(output.status == 200)
            #expect((record["result"] as? [String: Any])?["sha256"] as? String == hash)
            #expect(view["outputSha256"] as? String == hash)
        }
    }
}
