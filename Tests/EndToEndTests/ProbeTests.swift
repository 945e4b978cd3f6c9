import Foundation
import Glibc
import ReelTestSupport
import Testing

extension EndToEnd {
    /// A job is known before its source has been read, and any process that is there reads it.
    @Suite struct ProbeTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private struct Submitted: Decodable {
            var id: String
            var state: String
        }

        private struct Refused: Decodable {
            struct Failure: Decodable {
                var code: String
                var owner: String
                var message: String
                var exit: Int
            }
            var id: String
            var error: Failure
        }

        private let options = ["--lossless", "--pass-frames", "30"]

        private func source() async throws -> (clip: String, copy: String) {
            let clip = try await Clips.shared.crowd(frames: 60, size: "320x240")
            return (clip, try fixture.copy(clip, as: "clip.mov"))
        }

        /// A file of which nothing decodes.
        private func noVideo() throws -> String {
            let path = fixture.path("noise.mp4")
            try Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: URL(fileURLWithPath: path))
            return path
        }

        private func lines<Value: Decodable>(_ outcome: Outcome, as: Value.Type) throws -> [Value] {
            try outcome.output.split(separator: "\n").map { try JSONDecoder().decode(Value.self, from: Data($0.utf8)) }
        }

        /// The job that the board has, as soon as it has one.
        private func job(_ fleet: Fleet) async throws -> JobJSON {
            @Sendable func jobs() async throws -> [JobJSON] {
                let outcome = try await fleet.coordinator(["status", "--json"])
                return try JSONDecoder().decode([JobJSON].self, from: Data(outcome.output.utf8))
            }
            try #require(try await eventually { try await jobs().count == 1 })
            return try #require(try await jobs().first)
        }

        @Test func anInterruptedSubmittersJobGoesOnAtOnce() async throws {
            let (clip, source) = try await source()
            let slow = try SlowCoordinator(fixture)
            try await Fleet.with(fixture, workers: 1) { fleet in
                let submitting = try await fleet.startCoordinator(["submit", source, "--json"] + options, slow.program)
                try #require(try await eventually { slow.isWaiting })
                let seen = try await job(fleet)
                submitting.send(SIGINT)
                let outcome = try await submitting.outcome
                slow.go()
                #expect(outcome.code == 130)
                let said = outcome.output.split(separator: "\n")
                try #require(said.count == 2)
                let first = try JSONDecoder().decode(Submitted.self, from: Data(said[0].utf8))
                #expect(first.id == seen.id && first.state == "probing")
                let second = try JSONDecoder().decode(Refused.self, from: Data(said[1].utf8))
                #expect(second.id == seen.id && second.error.code == "job-goes-on" && second.error.exit == 130)
                // Its lease was handed back, so no worker waits for it to lapse.
                #expect(try await eventually { try fleet.sight(seen.id).state != "probing" })
                #expect(try await eventually { try fleet.sight(seen.id).state == "done" })
                try await fixture.expectExactlyReversed(clip, "\(fleet.folder(seen.id))/output.mov")
            }
        }

        @Test func concurrentSubmissionsAreOneJob() async throws {
            let (clip, source) = try await source()
            try await Fleet.with(fixture, workers: 1) { fleet in
                let arguments = ["submit", source] + options
                var submitting: [Child] = []
                for _ in 0..<4 { submitting.append(try await fleet.startCoordinator(arguments)) }
                var ids: Set<String> = []
                for child in submitting {
                    let outcome = try await child.outcome
                    #expect(outcome.code == 0, "\(outcome.error)")
                    ids.insert(outcome.output)
                }
                let id = try #require(ids.first?.trimmingCharacters(in: .newlines))
                #expect(ids.count == 1 && fleet.jobs == [id])
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                #expect(try BoardSight.events("completed", fleet.socket).allSatisfy { $0.value == 1 })
                #expect(fleet.names(id).filter { $0.hasPrefix("plan.") } == ["plan.1.json"])
                try await fixture.expectExactlyReversed(clip, "\(fleet.folder(id))/output.mov")
            }
        }

        @Test func allWaitingProcessesGetTheRefusalAndNothingIsLeft() async throws {
            let source = try noVideo()
            let slow = try SlowCoordinator(fixture)
            try await Fleet.with(fixture, workers: 0) { fleet in
                let first = try await fleet.startCoordinator(["submit", source, "--json"], slow.program)
                try #require(try await eventually { slow.isWaiting })
                let second = try await fleet.startCoordinator(["submit", source, "--json"])
                let id = try await job(fleet).id
                try await Task.sleep(for: .seconds(1))
                slow.go()
                var codes: Set<String> = []
                for outcome in [try await first.outcome, try await second.outcome] {
                    #expect(outcome.code == 3, "\(outcome.error)")
                    let last = try #require(outcome.output.split(separator: "\n").last)
                    let refused = try JSONDecoder().decode(Refused.self, from: Data(last.utf8))
                    #expect(refused.id == id && refused.error.exit == 3 && refused.error.owner == "source")
                    #expect(refused.error.message.contains(source))
                    codes.insert(refused.error.code)
                }
                #expect(codes.count == 1)
                #expect(try fleet.sight(id).state == "")
                #expect(try BoardSight.leases(fleet.socket) == [])
                #expect(fleet.jobs == [])
                #expect(fleet.leftovers == [])
            }
        }

        @Test func aRefusalWithoutAWaitingProcessStaysUntilTheJobIsSubmittedAgain() async throws {
            let source = try noVideo()
            let slow = try SlowCoordinator(fixture)
            try await Fleet.with(fixture, workers: 0) { fleet in
                let submitting = try await fleet.startCoordinator(["submit", source], slow.heard)
                try #require(try await eventually { slow.isWaiting })
                let id = try await job(fleet).id
                #expect(try await eventually { slow.said.contains("job \(id): its source is being read") })
                let outcome = try await submitting.kill()
                slow.go()
                // The id of an accepted job comes later.
                #expect(outcome.output == "")
                let worker = try await fleet.startWorker()
                #expect(try await eventually { try fleet.sight(id).state == "failed" })
                try await fleet.kill(worker)
                let left = try await fleet.job(id)
                #expect(left.failure?.contains(source) == true)
                // Begun and refused again, and now a process has received the refusal.
                let again = try await fleet.coordinator(["submit", source])
                #expect(again.code == 3)
                #expect(again.output == "")
                #expect(again.error.contains(source))
                #expect(try fleet.sight(id).state == "")
                #expect(fleet.jobs == [])
            }
        }

        /// A plan that this release does not use: the job gets a plan of the next number, with the segments that agree.
        @Test func anotherPlanTakesOverTheSegmentsThatAgree() async throws {
            let clip = try await Clips.shared.crowd(frames: 144, size: "1280x720")
            let source = try fixture.copy(clip, as: "crowd.mov")
            let options = ["--lossless", "--pass-frames", "48"]
            try await Fleet.with(fixture, workers: 1) { fleet in
                let id = try await fleet.submit([source] + options)
                try #require(try await eventually { try fleet.sight(id).done.count >= 2 })
                let worker = try #require(await fleet.workers.first)
                try await fleet.kill(worker)
                let segments = Set(fleet.segments(id).filter { $0.hasSuffix(".json") })
                #expect(segments.count >= 2)
                try RawRedis(socket: fleet.socket)("FLUSHALL")
                let plan = URL(fileURLWithPath: fleet.folder(id) + "/plan.1.json")
                let text = try String(contentsOf: plan, encoding: .utf8)
                try text.replacing(#/"build":"[^"]*"/#, with: #""build":"ffv1 of another time""#)
                    .write(to: plan, atomically: false, encoding: .utf8)

                #expect(try await fleet.submit([source] + options) == id)
                #expect(fleet.names(id).filter { $0.hasPrefix("plan.") } == ["plan.1.json", "plan.2.json"])
                // What an encoder of the same build had made, and sound, is there from the start.
                #expect(try fleet.sight(id).done.count >= 2)
                #expect(segments.isSubset(of: Set(fleet.segments(id))))
                try await fleet.startWorker()
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                try await fixture.expectExactlyReversed(clip, "\(fleet.folder(id))/output.mov")
            }
        }

        @Test func anIndexIsMadeOnceForAllJobsOfASource() async throws {
            let (_, source) = try await source()
            try await Fleet.with(fixture, workers: 0) { fleet in
                let first = try await fleet.submit([source, "--lossless"])
                let indexes = { @Sendable (fleet: Fleet) in
                    try FileManager.default.subpathsOfDirectory(atPath: fleet.store + "/sources").filter {
                        $0.contains("/")
                    }
                }
                let made = try indexes(fleet)
                #expect(made.count == 1)
                let path = try #require(made.first.map { "\(fleet.store)/sources/\($0)" })
                let before = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
                let second = try await fleet.submit([source, "--crf", "30"])
                #expect(first != second)
                #expect(try indexes(fleet) == made)
                #expect(try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date == before)
                for id in [first, second] {
                    #expect(try await fleet.coordinator(["cancel", id]).code == 0)
                    #expect(try await fleet.coordinator(["remove", id]).code == 0)
                }
                // Once no job uses it, the next worker that cleans the store removes it.
                try await fleet.startWorker()
                #expect(try await eventually { try indexes(fleet).isEmpty })
            }
        }
    }
}
