import ReelCore
import ReelEngine
import Synchronization
import Testing

extension EndToEnd {
    /// What the engine itself says, beside what the programs make of it.
    @Suite struct EngineTests {
        @Test("a recon says how far it is, at most four times a second")
        func reconProgress() async throws {
            let bench = try Bench()
            let source = try await Clips.shared.long()
            let request = ReconRequest(source: source, index: bench.path("index"))
            let heard = Mutex<[EngineProgress]>([])
            let begin = ContinuousClock.now
            try await EngineHost(executable: Program.folder + "/reel-engine").withEngine(memory: nil) { engine in
                _ = try await engine.perform(.recon(request)) { progress in heard.withLock { $0.append(progress) } }
            }
            let quarters = Int((ContinuousClock.now - begin) / .milliseconds(250))
            let read = heard.withLock { $0 }.map(\.decoded)
            #expect((1...quarters + 1).contains(read.count))
            #expect(read.allSatisfy { (1...480).contains($0) })
            #expect(zip(read, read.dropFirst()).allSatisfy { $0 < $1 })
        }
    }
}
