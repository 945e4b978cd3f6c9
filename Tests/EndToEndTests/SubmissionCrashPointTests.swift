import Foundation
import ReelTestSupport
import Testing

/// Crashes between the steps of a submission, from the job's record to its passes on the board, with real processes. What was
/// acknowledged is done in the end, and what was not is a whole job or none. Leases take time to lapse, and a job that only the
/// store has comes back after a minute, so these tests run in parallel.
@Suite("Crash points of a submission") struct SubmissionCrashPointTests {
    private let fixture: ProcessFixture

    init() throws { fixture = try ProcessFixture() }

    @Test("crash point: coordinator killed at each step of a submission")
    func killedAtEachStep() async throws {
        let clip = try await Clips.shared.crowd(frames: 48, size: "320x180")
        let source = try fixture.copy(clip, as: "crowd.mov")
        try await Fleet.with(fixture, workers: 0) { fleet in
            var step = 0
            var isAcknowledged = false
            while !isAcknowledged {
                step += 1
                let sickness = try await Sickness(fixture)
                try sickness.setDeath(step)
                let outcome = try await fixture.run(
                    .coordinator, submission(source, step),
                    environment: fleet.environment(as: "reel-coordinator").merging(sickness.environment) { $1 })
                isAcknowledged = outcome.code == 0
                try #require(isAcknowledged || outcome.code == 128 + 9, "step \(step): \(outcome.error)")
                try #require(step < 100)
            }
            let jobs = fleet.jobs.filter { fleet.record(of: $0) != nil }
            let none = fleet.jobs.subtracting(jobs)
            // Steps before the record, after it, after the job's beginning, and after its publication.
            #expect(!none.isEmpty)
            #expect(Set(try jobs.map { try fleet.sight($0).state }) == ["", "probing", "running"])
            for id in none { #expect(try fleet.sight(id).state == "") }
            try await fleet.startWorker()
            try await expectDone(jobs, of: clip, fleet)
        }
    }

    /// Its jobs are begun at the same time, so a step is another one's each time.
    @Test("crash point: coordinator killed while it submits a list")
    func killedInAList() async throws {
        let clip = try await Clips.shared.crowd(frames: 48, size: "320x180")
        let sources = try (0..<3).map { number in
            let source = try fixture.copy(clip, as: "crowd\(number).mov")
            // Files of one time and content are one source.
            let time = Date(timeIntervalSince1970: 1_700_000_000 + Double(number))
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: source)
            return source
        }
        let list = fixture.path("list")
        try (sources.joined(separator: "\n") + "\n").write(toFile: list, atomically: true, encoding: .utf8)
        try await Fleet.with(fixture, workers: 0) { fleet in
            var acknowledged: Set<String> = []
            var step = 1
            var isWhole = false
            while !isWhole {
                let sickness = try await Sickness(fixture)
                try sickness.setDeath(step)
                // One pass each.
                let options = ["--lossless", "--pass-frames", "\(100 + step)"]
                let outcome = try await fixture.run(
                    .coordinator, ["submit", "--from-file", list] + options,
                    environment: fleet.environment(as: "reel-coordinator").merging(sickness.environment) { $1 })
                isWhole = outcome.code == 0
                try #require(isWhole || outcome.code == 128 + 9, "step \(step): \(outcome.error)")
                acknowledged.formUnion(outcome.output.split(separator: "\n").map(String.init))
                step += 5
                try #require(step < 300)
            }
            let jobs = fleet.jobs.filter { fleet.record(of: $0) != nil }
            #expect(acknowledged.isSubset(of: jobs) && acknowledged.count < jobs.count)
            let states = Set(try jobs.map { try fleet.sight($0).state })
            // Chance decides which steps of the three meet; the test of one file knows each step's state.
            #expect(states.isSubset(of: ["", "probing"]), "\(states)")
            for id in fleet.jobs.subtracting(jobs) { #expect(try fleet.sight(id).state == "") }
            try await fleet.startWorker()
            try await expectDone(jobs, of: clip, fleet)
        }
    }

    /// The log of a machine that crashes lacks its last second.
    @Test("crash point: Redis killed and restarted, without the last steps of a submission")
    func redisForgetsASubmission() async throws {
        let clip = try await Clips.shared.crowd(frames: 48, size: "320x180")
        let source = try fixture.copy(clip, as: "crowd.mov")
        try await Fleet.with(fixture, workers: 0) { fleet in
            var jobs: Set<String> = []
            let last = 4
            for part in 0...last {
                let id = try await fleet.submit(Array(submission(source, part).dropFirst()))
                jobs.insert(id)
                try await fleet.killRedis()
                // From its last change to all of them.
                let mentions = try fleet.mentions(of: id)
                try #require(mentions > last)
                #expect(try fleet.cutLog(beforeLast: 1 + (mentions - 1) * part / last, of: id) > 0)
                try await fleet.startRedis()
                #expect(try await eventually { (try? RawRedis(socket: fleet.socket)("PING")) == "PONG" })
            }
            #expect(jobs.count == last + 1)
            let states = try jobs.map { try fleet.sight($0).state }
            #expect(states.contains("") && states.contains { $0 != "" }, "\(states)")
            try await fleet.startWorker()
            try await expectDone(jobs, of: clip, fleet)
        }
    }

    /// The log has the end of before, and nothing of the job's second beginning.
    @Test("crash point: Redis killed and restarted, without a submission of a cancelled job")
    func redisForgetsAFurtherSubmission() async throws {
        let clip = try await Clips.shared.crowd(frames: 48, size: "320x180")
        let source = try fixture.copy(clip, as: "crowd.mov")
        try await Fleet.with(fixture, workers: 0) { fleet in
            let id = try await fleet.submit(Array(submission(source, 0).dropFirst()))
            let cancelled = try await fleet.coordinator(["cancel", id])
            #expect(cancelled.code == 0, "\(cancelled.error)")
            let before = try fleet.mentions(of: id)
            #expect(try await fleet.submit(Array(submission(source, 0).dropFirst())) == id)
            try await fleet.killRedis()
            let after = try fleet.mentions(of: id)
            try #require(after > before)
            #expect(try fleet.cutLog(beforeLast: after - before, of: id) > 0)
            try await fleet.startRedis()
            #expect(try await eventually { (try? RawRedis(socket: fleet.socket)("PING")) == "PONG" })
            #expect(try fleet.sight(id).state == "cancelled")
            try await fleet.startWorker()
            try await expectDone([id], of: clip, fleet)
        }
    }

    /// Another job for each number, of the same output.
    private func submission(_ source: String, _ number: Int) -> [String] {
        ["submit", source, "--lossless", "--pass-frames", "\(10 + number)"]
    }

    private func expectDone(_ jobs: Set<String>, of clip: String, _ fleet: Fleet) async throws {
        for id in jobs {
            #expect(try await eventually { try fleet.sight(id).state == "done" }, "\(id)")
            try await fixture.expectExactlyReversed(clip, "\(fleet.folder(id))/output.mov")
        }
    }
}
