import Foundation
import ReelCore
import ReelEngine
import ReelWords
import Synchronization
import Testing

/// What an engine may ask its parent for, of sources that are not files.
@Suite("Fetching for an engine", .timeLimit(.minutes(10)))
struct FetchingTests {
    /// A source of 1000 bytes that notes what is wanted of it.
    private final class Source: RemoteSources, FetchedSource {
        let path = "/scratch/source"
        let size: Int64 = 1000
        let wanted = Mutex<[String]>([])
        private let failure: ReelFailure?
        /// Of the first bytes.
        private let delay: Duration

        init(_ failure: ReelFailure? = nil, delay: Duration = .zero) { (self.failure, self.delay) = (failure, delay) }

        func open(_ source: Locator) throws(ReelFailure) -> any FetchedSource { self }

        func look(
            at url: String, _ count: Int64
        ) throws(ReelFailure) -> (version: WebVersion, first: [UInt8], last: [UInt8]) {
            throw ReelFailure(.sourceIsURL(url: url))
        }

        func fetch(_ range: Range<Int64>) async throws(ReelFailure) {
            wanted.withLock { $0.append("\(range)") }
            if range.lowerBound == 0 { try? await Task.sleep(for: delay) }
            if let failure { throw failure }
        }

        func discard(_ range: Range<Int64>) { wanted.withLock { $0.append("discard \(range)") } }
    }

    private let film = Locator.web(
        "https://host/film.mp4?signature=secret", WebVersion(size: 1000, tag: nil, modified: nil))

    private var recon: EngineRequest { .recon(ReconRequest(source: film, index: .file("/store/index"))) }

    /// How long an engine may be silent: longer than a busy machine makes it wait.
    private static let stall = Duration.seconds(10)

    private func perform(_ engine: FakeEngine, _ source: Source) async throws -> EngineResult {
        let scope = EngineScope(sources: [film], reads: [], folders: [])
        return try await engine.withEngine(stall: FetchingTests.stall, scope: scope, remote: source) {
            try await $0.perform(recon)
        }
    }

    @Test("Orders are carried out and answered, rooms given back, and the engine never learns the query")
    func orders() async throws {
        let engine = try FakeEngine(
            """
            printf '%s' "$confinement" > "$0.confinement"
            \(say(ready))
            read -r request; printf '%s' "$request" > "$0.request"
            \(say(.fetch(FetchOrder(source: 0, range: 0..<600))))
            read -r first; printf '%s' "$first" > "$0.first"
            \(say(.fetch(FetchOrder(source: 0, range: 600..<1000, discarded: 0..<600))))
            read -r second
            \(say(.result(.recon(ReconResult(indexHash: "e3b0")))))
            """)
        let source = Source(delay: FetchingTests.stall + .seconds(1))
        guard case .recon(let result) = try await perform(engine, source) else { return #expect(Bool(false)) }
        #expect(result.indexHash == "e3b0")
        #expect(source.wanted.withLock(\.self) == ["0..<600", "discard 0..<600", "600..<1000"])
        let first = try JSONDecoder().decode(EngineInput.self, from: Data(engine.file("first").utf8))
        guard case .fetched(FetchOrder(source: 0, range: 0..<600)) = first else { return #expect(Bool(false)) }
        for name in ["confinement", "request"] {
            let line = try engine.file(name)
            #expect(line.contains("/scratch/source") || line.contains(#"\/scratch\/source"#), "\(line)")
            #expect(!line.contains("secret"))
        }
    }

    @Test("Bytes that cannot be had end the engine, and their failure is the request's")
    func failure() async throws {
        let engine = try FakeEngine(
            """
            \(say(ready))
            read -r request
            \(say(.fetch(FetchOrder(source: 0, range: 0..<600))))
            sleep 100
            """)
        let failure = ReelFailure(.urlRefused(url: "https://host/film.mp4?…", status: 404))
        await #expect(throws: failure) { try await perform(engine, Source(failure)) }
    }

    @Test(
        "Bytes that no source has are the engine's fault",
        arguments: [
            FetchOrder(source: 1, range: 0..<600), FetchOrder(source: -1, range: 0..<600),
            FetchOrder(source: 0, range: 0..<1001), FetchOrder(source: 0, range: -1..<5),
            FetchOrder(source: 0, range: 5..<5), FetchOrder(source: 0, range: 0..<5, discarded: 900..<1001),
        ])
    func nonsense(_ order: FetchOrder) async throws {
        let engine = try FakeEngine("\(say(ready))\nread -r request\n\(say(.fetch(order)))\nsleep 100")
        let source = Source()
        let failure = try #require(await #expect(throws: ReelFailure.self) { try await perform(engine, source) })
        guard case .engineNonsense(_, .strayFetch, _) = failure.reason else {
            return #expect(Bool(false), "\(failure)")
        }
        #expect(source.wanted.withLock(\.self) == [])
    }

    @Test("Without a way to read URLs none is read")
    func none() async throws {
        let engine = try FakeEngine(try say(ready))
        let scope = EngineScope(sources: [film], reads: [], folders: [])
        await #expect(throws: ReelFailure(.sourceIsURL(url: "https://host/film.mp4?…"))) {
            try await engine.withEngine(scope: scope) { _ in }
        }
    }
}
