import Foundation
import ReelTestSupport
import Testing

/// The programs of release 0.1.0; `scripts/previous` builds them.
private let previous = ProcessInfo.processInfo.environment["REEL_PREVIOUS"]

extension EndToEnd {
    /// A farm is upgraded as docs/upgrading.md says, on the same Redis and store.
    @Suite(.enabled(if: previous != nil, "set REEL_PREVIOUS to a folder with the programs of release 0.1.0"))
    struct UpgradeTests {
        private let fixture: ProcessFixture
        private let options = ["--lossless", "--pass-frames", "48"]

        /// The programs of release 0.1.0 know no other lease.
        init() throws { fixture = try ProcessFixture(keepsLease: true) }

        private func old(_ name: String) throws -> Program { .at("\(try #require(previous))/\(name)") }

        /// Makes Redis what it is on a farm of the previous release, whose users load the board's functions themselves.
        private func downgrade(_ fleet: Fleet) throws {
            let admin = try RawRedis(socket: fleet.socket)
            try admin("FUNCTION", "DELETE", "reel2")
            for user in ["reel-worker", "reel-coordinator"] {
                try admin("ACL", "SETUSER", user, "+function|load", "+bgrewriteaof", "~reel:{main}:*")
            }
        }

        /// Gives Redis the users and the functions of this release.
        private func upgrade(_ fleet: Fleet) async throws {
            let before = try functions(fleet)
            try RawRedis(socket: fleet.socket).send(["ACL", "LOAD"])
            let prepared = try await fixture.run(.coordinator, ["init", "--redis", fleet.address(as: "reel-admin")])
            try #require(prepared.code == 0, "\(prepared.error)")
            #expect(try functions(fleet) > before)
        }

        /// The version of the board's functions that Redis has.
        private func functions(_ fleet: Fleet) throws -> Int {
            try #require(try Int(RawRedis(socket: fleet.socket)("FCALL_RO", "reel2_version", "0")))
        }

        private struct OldJob: Decodable {
            var id: String
            var state: String
        }

        /// The output of the previous release's coordinator.
        private func oldCoordinator(_ fleet: Fleet, _ arguments: [String]) async throws -> String {
            let outcome = try await fleet.startCoordinator(arguments, old("reel-coordinator")).outcome
            try #require(outcome.code == 0, "\(outcome.error)")
            return outcome.output.trimmingCharacters(in: .newlines)
        }

        /// The states in which the previous release's coordinator shows all jobs.
        private func oldStates(_ fleet: Fleet) async throws -> [String] {
            let output = try await oldCoordinator(fleet, ["status", "--json"])
            return try JSONDecoder().decode([OldJob].self, from: Data(output.utf8)).map(\.state)
        }

        @Test func aFarmWhoseJobsHaveEnded() async throws {
            let clip = try await Clips.shared.crowd(frames: 144, size: "1280x720")
            let source = try fixture.copy(clip, as: "crowd.mov")
            try await Fleet.with(fixture, workers: 0) { fleet in
                try downgrade(fleet)
                let before = try await fleet.startWorker(old("reel-worker"))
                let id = try await oldCoordinator(fleet, ["submit", source] + options)
                #expect(try await eventually { try await oldStates(fleet) == ["done"] })
                #expect(try await before.end().code == 0)

                try await upgrade(fleet)
                try await fleet.startWorker()
                #expect(try await fleet.job(id).state == "done")
                let fetched = fixture.path("before.mov")
                #expect(try await fleet.coordinator(["fetch", id, "-o", fetched]).code == 0)
                try await fixture.expectExactlyReversed(clip, fetched)
                #expect(try await fleet.coordinator(["verify", id]).code == 0)
                #expect(try await fleet.submit([source] + options) == id, "the job is done already")

                let now = try await fleet.submit([source, "--lossless", "--pass-frames", "72"])
                #expect(now != id)
                #expect(try await eventually { try fleet.sight(now).state == "done" })
                try await fixture.expectExactlyReversed(clip, "\(fleet.folder(now))/output.mov")
                #expect(fleet.jobs == [id, now])
                #expect(try await fleet.coordinator(["remove", id]).code == 0)
                #expect(fleet.jobs == [now])
            }
        }

        @Test func programsOfBothReleasesOnOneBoard() async throws {
            let clip = try await Clips.shared.crowd(frames: 144, size: "1280x720")
            let source = try fixture.copy(clip, as: "crowd.mov")
            try await Fleet.with(fixture, workers: 0) { fleet in
                try downgrade(fleet)
                let id = try await oldCoordinator(fleet, ["submit", source] + options)

                // A worker of this release does the jobs of this release alone.
                try await upgrade(fleet)
                try await fleet.startWorker()
                let now = try await fleet.submit([source, "--lossless", "--pass-frames", "72"])
                #expect(try await eventually { try fleet.sight(now).state == "done" })
                let waiting = try await fleet.job(id)
                #expect(waiting.state == "running" && waiting.passesDone == 0 && waiting.failures.isEmpty)

                // A machine that was not upgraded does the others.
                let forgotten = try await fleet.startWorker(old("reel-worker"))
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                #expect(try await forgotten.end().code == 0)
                for job in [id, now] {
                    try await fixture.expectExactlyReversed(clip, "\(fleet.folder(job))/output.mov")
                }
                #expect(try BoardSight.events("completed", fleet.socket).allSatisfy { $0.value == 1 })
            }
        }
    }
}
