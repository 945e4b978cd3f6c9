import Foundation
import Testing

extension EndToEnd {
    /// Workers, engines, Redis and coordinators killed or stopped at random while jobs run: every job ends done, its
    /// output is that of an undisturbed run, bit for bit, and nothing is left behind.
    @Suite struct ChaosTests {
        private let settings = Settings()

        /// `scripts/chaos` sets them; without it one seed is tried, without faults that outlast a lease but one.
        private struct Settings {
            private let environment = ProcessInfo.processInfo.environment

            var isLong: Bool { environment["REEL_CHAOS_SEEDS"] != nil }
            var seeds: ClosedRange<UInt64> {
                let bounds = environment["REEL_CHAOS_SEEDS"]?.split(separator: ".").compactMap { UInt64($0) } ?? [1]
                guard let first = bounds.first, let last = bounds.last, first <= last else { return 1...1 }
                return first...last
            }
            var limit: Duration {
                isLong ? .seconds(60 * (environment["REEL_CHAOS_MINUTES"].flatMap { Int($0) } ?? 1)) : .seconds(8)
            }
            /// The file that gets the rows.
            var table: String? { environment["REEL_CHAOS_TABLE"] }
            var frames: Int { isLong ? 1440 : 432 }
            var size: String { isLong ? "1920x1080" : "960x540" }
            var passFrames: Int { isLong ? 36 : 12 }
        }

        @Test func everyJobEndsDone() async throws {
            let clip = try await Clips.shared.crowd(frames: settings.frames, size: settings.size)
            let options = ["--lossless", "--pass-frames", "\(settings.passFrames)"]
            let quiet = try ProcessFixture()
            let outcome = try await quiet.run(.coordinator, ["run", clip, "-o", "out.mov"] + options)
            try #require(outcome.code == 0, "\(outcome.error)")
            if settings.isLong { try await quiet.expectExactlyReversed(clip, quiet.path("out.mov")) }

            var table = [ChaosRow.line(ChaosRow.titles), ChaosRow.line(ChaosRow.titles.map { _ in "---" })]
            for seed in settings.seeds {
                let row = try await disturb(seed: seed, clip, options, reference: quiet.path("out.mov"))
                #expect(row.faults.isEmpty, "seed \(seed)")
                table.append(row.text)
                FileHandle.standardOutput.write(Data("\(row.text)\n".utf8))
                if let path = settings.table {
                    try Data((table.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
                }
            }
        }

        private func disturb(
            seed: UInt64, _ clip: String, _ options: [String], reference: String
        ) async throws -> ChaosRow {
            let fixture = try ProcessFixture()
            let source = try fixture.copy(clip, as: "crowd.mov")
            let settings = settings
            var row = ChaosRow(seed: seed)
            let redis = try await Sickness(fixture)
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await fleet.killRedis()
                await fleet.setRedisSickness(redis)
                try await fleet.startRedis()
                let chaos = Chaos(
                    fleet: fleet, redis: redis, seed: seed, isLong: settings.isLong, submission: [source] + options,
                    reference: reference)
                row = try await chaos.run(for: settings.limit)
            }
            return row
        }
    }
}
