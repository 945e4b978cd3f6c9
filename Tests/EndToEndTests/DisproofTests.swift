import Foundation
import ReelTestSupport
import Testing

extension EndToEnd {
    /// A pass decodes other frames than the source's tables state.
    @Suite struct DisproofTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// 96 frames in closed groups of 12, every second of which refers to the next, and the same file with a table
        /// that has the second and third packet of the first group change places.
        private func sources() async throws -> (honest: String, lying: String) {
            let honest = try await Clips.shared.couples()
            let lying = try fixture.copy(honest, as: "lying.mov")
            var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: lying)))
            let name = try #require(bytes.firstRange(of: Array("ctts".utf8))).lowerBound
            // Behind name, version and count: entries of how many packets, and how much later than decoded they are shown.
            func word(_ place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
            let entries = name + 12
            let (second, third) = (entries + 8, entries + 16)
            try #require(word(second) == 1 && word(third) == 1)
            let (late, early) = (word(second + 4), word(third + 4))
            // The third packet is decoded this much later.
            let step = word(entries + 4)
            for (place, value) in [(second + 4, early + step), (third + 4, late - step)] {
                for byte in 0..<4 { bytes[place + byte] = UInt8(truncatingIfNeeded: value >> (24 - 8 * byte)) }
            }
            try Data(bytes).write(to: URL(fileURLWithPath: lying))
            return (honest, lying)
        }

        private let options = ["--lossless", "--pass-frames", "12"]

        private func expectReversed(_ source: String, _ output: String) async throws {
            let (before, after) = (try await fixture.frames(of: source), try await fixture.frames(of: output))
            #expect(after.map(\.hash) == before.map(\.hash).reversed())
        }

        @Test func theJobIsPlannedAgainAndKeepsSegmentsThatAgree() async throws {
            let (honest, lying) = try await sources()
            try await Fleet.with(fixture, workers: 1) { fleet in
                let id = try await fleet.submit([lying, "--keep-segments"] + options)
                try #require(try await eventually { try fleet.sight(id).state == "done" })
                try await expectReversed(honest, "\(fleet.folder(id))/output.mov")
                #expect(try BoardSight.events("disproved", fleet.socket).count == 1)
                #expect(fleet.names(id).filter { $0.hasPrefix("plan.") }.sorted() == ["plan.1.json", "plan.2.json"])
                let job = try await fleet.job(id)
                #expect(job.warnings.contains { $0.hasPrefix("all of the video was decoded") }, "\(job.warnings)")
                // The error is in the pass that comes last: the others' segments count, and no pass was done twice.
                let feed = try RawRedis(socket: fleet.socket)("XRANGE", BoardSight.prefix + "events", "-", "+")
                    .split(separator: "\n")
                let before = feed[..<(try #require(feed.firstIndex(of: "disproved")))].filter { $0 == "completed" }
                #expect(before.count == 7)
                #expect(try BoardSight.events("completed", fleet.socket).allSatisfy { $0.value == 1 })
                let records = fleet.segments(id).filter { $0.hasSuffix(".json") }
                #expect(records.count == job.frames / 12, "\(records)")
                // The source is not believed a second time.
                let next = try await fleet.submit([lying, "--lossless", "--pass-frames", "24"])
                try #require(try await eventually { try fleet.sight(next).state == "done" })
                try await expectReversed(honest, "\(fleet.folder(next))/output.mov")
                #expect(try BoardSight.events("disproved", fleet.socket).count == 1)
            }
        }

        @Test func oneMachineDoesTheSame() async throws {
            let (honest, lying) = try await sources()
            let output = fixture.path("out.mov")
            let outcome = try await fixture.run(.coordinator, ["run", lying, "-o", output] + options)
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(outcome.error.contains("all of the video was decoded"), "\(outcome.error)")
            try await expectReversed(honest, output)
        }
    }
}
