import Foundation
import ReelCore
import ReelEngine
import Synchronization
import Testing

extension EndToEnd {
    /// The engine's own events, without coordinator and worker.
    @Suite struct EngineTests {
        @Test("recon reports its progress at most four times a second")
        func reconProgress() async throws {
            let fixture = try ProcessFixture()
            let source = try await Clips.shared.long()
            let request = ReconRequest(source: .file(source), index: .file(fixture.path("index")))
            let heard = Mutex<[EngineProgress]>([])
            let begin = ContinuousClock.now
            let scope = EngineScope(sources: [request.source], reads: [], folders: [.file(fixture.folder)])
            let host = EngineHost(executable: Program.folder + "/reel-engine")
            try await host.withEngine(memory: nil, scope: scope) { engine in
                _ = try await engine.perform(.recon(request)) { progress in heard.withLock { $0.append(progress) } }
            }
            let quarters = Int((ContinuousClock.now - begin) / .milliseconds(250))
            let read = heard.withLock { $0 }.compactMap { progress -> Int? in
                if case .recon(let packets, _) = progress { packets } else { nil }
            }
            #expect((1...quarters + 1).contains(read.count))
            #expect(read.allSatisfy { (1...480).contains($0) })
            #expect(zip(read, read.dropFirst()).allSatisfy { $0 < $1 })
        }

        @Test("an encoder that does not fit into the memory fails at once, and the engine goes on")
        func encoderBeyondMemory() async throws {
            let fixture = try ProcessFixture()
            let source = try await Clips.shared.long()
            let index = fixture.path("index")
            let host = EngineHost(executable: Program.folder + "/reel-engine")
            let scope = EngineScope(sources: [.file(source)], reads: [], folders: [.file(fixture.folder)])
            try await host.withEngine(memory: nil, scope: scope) { engine in
                _ = try await engine.perform(.recon(ReconRequest(source: .file(source), index: .file(index))))
            }
            func choose(_ codec: String, threads: Int) -> EngineRequest {
                let spec = JobSpec(container: .mp4, videoCodec: codec, threads: threads)
                return .choose(ChooseRequest(indexes: [.file(index)], spec: spec))
            }
            // As many addresses as the engine has before it does anything.
            try await host.withEngine(memory: 0, scope: scope) { engine in
                let failure = await #expect(throws: ReelFailure.self) {
                    try await engine.perform(choose("av1", threads: 4))
                }
                #expect(failure?.reason == .outOfMemory(step: .openEncoder, subject: "libsvtav1"))
                guard case .targets(let targets) = try await engine.perform(choose("h264", threads: 1)) else {
                    Issue.record("another answer")
                    return
                }
                #expect(targets.video.encoder == "libx264")
            }
        }

        @Test("a clip of one pass is encoded as AV1 with any number of threads", arguments: [1, 2, 4, 8])
        func shortAV1(threads: Int) async throws {
            let fixture = try ProcessFixture()
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let outcome = try await fixture.run(
                .coordinator,
                ["run", source, "-o", "out.mp4", "--to", "1", "--video-codec", "av1", "--threads", "\(threads)"])
            #expect(outcome.code == 0, "\(outcome.error)")
            #expect(try await fixture.frames(of: fixture.path("out.mp4")).count == 24)
        }
    }
}

extension EndToEnd {
    /// reel's own C code, which is inline in its modules' headers, with the sanitizers of Swift's clang.
    @Suite struct ShimTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        @Test("no sanitizer reports a shim that reads damaged media")
        func damagedMedia() async throws {
            let clips = [
                try fixture.copy(try await Clips.shared.film(), as: "film.mp4"),
                try fixture.copy(try await Clips.shared.long(), as: "long.mp4"),
            ]
            let script = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../scripts/sanitize")
                .standardized
            let outcome = try await fixture.run(.at(script.path), ["--rounds", "2", "--seed", "7"] + clips)
            #expect(outcome.code == 0, "\(outcome.error)")
            let counts = try #require(
                outcome.output.firstMatch(of: /(\d+) packets damaged, (\d+) frames read, 0 files refused/))
            #expect(Int(counts.1) ?? 0 > 1000)
            #expect(Int(counts.2) ?? 0 > 500)
        }
    }
}
