import Foundation
import Glibc
import ReelTestSupport
import Testing

/// The programs of the release before this one; `scripts/previous` builds them.
private let previous = ProcessInfo.processInfo.environment["REEL_PREVIOUS"]

extension EndToEnd {
    /// A farm is upgraded as docs/upgrading.md says: drained, finished, upgraded, on the same Redis and store.
    @Suite(.enabled(if: previous != nil, "set REEL_PREVIOUS to a folder with the previous release's programs"))
    struct UpgradeTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private func old(_ name: String) throws -> Program { .at("\(try #require(previous))/\(name)") }

        /// The previous release sends Redis scripts, which the users of the new `deploy/redis-users.acl` may not.
        private func scripts(areAllowed: Bool, _ fleet: Fleet) throws {
            let admin = try RawRedis(socket: fleet.socket)
            let rights = ["evalsha", "script|load"].map { (areAllowed ? "+" : "-") + $0 }
            for user in ["reel-worker", "reel-coordinator"] { try admin.send(["ACL", "SETUSER", user] + rights) }
        }

        private struct OldJob: Decodable {
            var id: String
            var state: String
        }

        /// What the previous release's coordinator says of all jobs.
        private func oldJobs(_ fleet: Fleet) async throws -> [OldJob] {
            let child = try await fleet.startCoordinator(["status", "--json"], old("reel-coordinator"))
            let outcome = try await child.outcome
            try #require(outcome.code == 0, "\(outcome.error)")
            return try JSONDecoder().decode([OldJob].self, from: Data(outcome.output.utf8))
        }

        @Test func finishedAndUpgraded() async throws {
            let clip = try await Clips.shared.crowd(frames: 144, size: "1280x720")
            let source = try fixture.copy(clip, as: "crowd.mov")
            let options = ["--lossless", "--pass-frames", "48"]
            try await Fleet.with(fixture, workers: 0) { fleet in
                try scripts(areAllowed: true, fleet)
                let before = try await fleet.startWorker(old("reel-worker"))
                let submitting = try await fleet.startCoordinator(
                    ["submit", source] + options, old("reel-coordinator"))
                let submitted = try await submitting.outcome
                try #require(submitted.code == 0, "\(submitted.error)")
                let id = submitted.output.trimmingCharacters(in: .newlines)

                // Too early: the board has a job that only the previous release can end.
                let early = try await fleet.coordinator(["submit", source] + options)
                #expect(early.code == 4)
                #expect(early.error.contains("version 1"), "\(early.error)")
                let tooEarly = try await fleet.startWorker()
                #expect(try await tooEarly.outcome.code == 4)
                #expect(try await tooEarly.outcome.error.contains("version 1"))

                #expect(
                    try await eventually {
                        try await oldJobs(fleet).map(\.state) == ["done"]
                    })
                #expect(try await before.end().code == 0)

                // Upgraded: the same Redis with the new users, the same store.
                try scripts(areAllowed: false, fleet)
                try await fleet.startWorker()
                let fetched = fixture.path("before.mov")
                #expect(try await fleet.coordinator(["fetch", id, "-o", fetched]).code == 0)
                try await fixture.expectExactlyReversed(clip, fetched)
                let now = try await fleet.submit([source] + options)
                #expect(now != id)
                #expect(try await eventually { try fleet.sight(now).state == "done" })
                try await fixture.expectExactlyReversed(clip, "\(fleet.folder(now))/output.mov")
                #expect(fleet.jobs == [id, now])
                #expect(try await fleet.coordinator(["remove", id]).code == 0)
                #expect(fleet.jobs == [now])
            }
        }

        @Test func programsOfThePreviousReleaseDoNoHarmOnAnUpgradedBoard() async throws {
            let clip = try await Clips.shared.crowd(frames: 144, size: "1280x720")
            let source = try fixture.copy(clip, as: "crowd.mov")
            try await Fleet.with(fixture, workers: 1) { fleet in
                let id = try await fleet.submit([source, "--lossless", "--pass-frames", "48"])
                // One machine was not upgraded, and neither were the users of Redis.
                try scripts(areAllowed: true, fleet)
                let forgotten = try await fleet.startWorker(old("reel-worker"))
                #expect(try await eventually { try fleet.sight(id).state == "done" })
                #expect(try await oldJobs(fleet).isEmpty)
                #expect(try await forgotten.end().code == 0)
                try await fixture.expectExactlyReversed(clip, "\(fleet.folder(id))/output.mov")
                #expect(try BoardSight.events("completed", fleet.socket).allSatisfy { $0.value == 1 })
            }
        }
    }
}
