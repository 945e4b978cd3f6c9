import Foundation
import ReelCore
import ReelQueue
import ReelTestSupport
import Testing

extension BoardTests {
    /// Board and model do the same under random operations, with a crash after any of them.
    ///
    /// `REEL_SEED=n` runs one seed again, `REEL_SEEDS=n` n of them.
    @Suite struct Conforming {
        private static let durable = Result { try RedisServer(sync: .always) }
        private static let steps = 200

        private static var seeds: [UInt64] {
            let variables = ProcessInfo.processInfo.environment
            if let seed = variables["REEL_SEED"].flatMap(UInt64.init) { return [seed] }
            return Array(1...(variables["REEL_SEEDS"].flatMap(UInt64.init) ?? 32))
        }

        @Test func boardAndModelAgree() async throws {
            for seed in Conforming.seeds {
                // Every fourth has a Redis that loses nothing acknowledged, and crashes.
                let restarts = seed % 4 == 0
                let server = try (restarts ? Conforming.durable : BoardFixture.server).get()
                var both = try Conformance(seed: seed, server: server, restarts: restarts)
                for _ in 0..<Conforming.steps where both.differences.isEmpty { try await both.step() }
                var wrong = both.differences
                for _ in 0..<8 where restarts && wrong.isEmpty { wrong = try await both.tear() }
                guard wrong.isEmpty else {
                    Issue.record(
                        """
                        seed \(seed) (REEL_SEED=\(seed)):
                        \(both.history.enumerated().map { "\($0 + 1). \($1)" }.joined(separator: "\n"))
                        \(wrong.joined(separator: "\n"))
                        """)
                    return
                }
            }
        }
    }
}
