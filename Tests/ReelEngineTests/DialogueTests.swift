import Foundation
import ReelCore
import ReelEngine
import ReelWords
import Synchronization
import Testing

@Suite("An engine's dialogue", .timeLimit(.minutes(10)))
struct DialogueTests {
    @Test("Two requests are answered in turn by the engine that was started once")
    func twoRequests() async throws {
        let engine = try FakeEngine(
            """
            echo "$@" > "$0.arguments"
            \(say(ready))
            read -r request; printf '%s\\n' "$request" > "$0.first"
            \(say(progress(1, frames: 0..<240)))
            \(say(progress(2, frames: 0..<240)))
            \(say(result(framesEncoded: 240)))
            read -r request; printf '%s\\n' "$request" > "$0.second"
            \(say(result(framesEncoded: 56)))
            cat > "$0.rest"
            """)
        let seen = Mutex<[Int?]>([])
        let answers = try await engine.withEngine(memory: 2 << 30) { session in
            #expect(session.identity.encoders == ["libx264 Lavc59.37.100"])
            let first = try await session.perform(reverse(pass: 3)) { event in
                seen.withLock { $0.append(event.decoded) }
            }
            let second = try await session.perform(reverse(pass: 4))
            #expect(!session.isDead)
            return [first, second]
        }
        let encoded = answers.map { answer in
            if case .pass(let result) = answer { result.statistics.framesEncoded } else { -1 }
        }
        #expect(encoded == [240, 56])
        #expect(seen.withLock { $0 } == [1, 2])
        #expect(try engine.file("arguments") == "--memory 2147483648\n")
        #expect(try pass(in: engine.file("first")) == 3)
        #expect(try pass(in: engine.file("second")) == 4)
    }

    private func pass(in line: String) throws -> Int? {
        let input = try JSONDecoder().decode(EngineInput.self, from: Data(line.utf8))
        if case .request(.reverse(let pass)) = input { return pass.pass } else { return nil }
    }

    private func segment(_ number: Int) -> StoredSegment {
        let content = SegmentContent(part: .video(frames: number * 24..<number * 24 + 24), times: "aa", target: "bb")
        let record = SegmentRecord(
            content: content, clip: 0, token: "7e", frames: 24, packets: 24, bytes: 4321, checksum: "c0",
            timeBase: TimeBase(1001, 30000), reorderDepth: 0, extradataHash: "e0")
        return StoredSegment(record: record, data: .file("/store/segments/\(record.name.text)"))
    }

    private var assembly: AssembleRequest {
        AssembleRequest(job: JobFiles(sources: [], plan: .file("/store/plan.json")), output: .file("/store/out.mkv"))
    }

    @Test("The segments of an assembly follow its request, in lines of their own, as they become known")
    func feed() async throws {
        let made = AssemblyResult(
            bytes: 9, checksum: String(repeating: "ab", count: 32), packets: 3, peakRSS: 1, diagnostics: [])
        let engine = try FakeEngine(
            """
            \(say(ready))
            for name in request first second third; do
                read -r line
                printf '%s' "$line" > "$0.$name"
            done
            \(say(.result(.assembly(made))))
            """)
        // More than a line holds, then one more.
        let batches = Mutex([(0..<501).map(segment), [segment(501)]])
        let result = try await engine.withEngine { session in
            try await session.perform(.assemble(assembly)) { _ in
            } next: { () throws(ReelFailure) in
                batches.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            }
        }
        guard case .assembly(made) = result else {
            Issue.record("\(result)")
            return
        }
        func line(_ name: String) throws -> EngineInput {
            try JSONDecoder().decode(EngineInput.self, from: Data(engine.file(name).utf8))
        }
        guard case .request(.assemble) = try line("request") else {
            Issue.record("the request does not come first")
            return
        }
        let named = try ["first", "second", "third"].map { name -> [StoredSegment] in
            if case .segments(let segments) = try line(name) { segments } else { [] }
        }
        #expect(named.map(\.count) == [500, 1, 1])
        #expect(named.flatMap(\.self) == (0..<502).map(segment))
    }

    @Test("What ends the naming of segments ends the engine, and is what the caller learns")
    func brokenFeed() async throws {
        let engine = try FakeEngine(
            """
            \(say(ready))
            read -r request
            while :; do sleep 1; done
            """)
        let held = ReelFailure(.jobHeldBack(job: JobID("a1")))
        try await engine.withEngine { session in
            await #expect(throws: held) {
                try await session.perform(.assemble(assembly)) { _ in
                } next: { () throws(ReelFailure) in
                    throw held
                }
            }
            #expect(session.isDead)
        }
    }

    @Test("Events arrive when they are written, not when a buffer is full")
    func prompt() async throws {
        let engine = try FakeEngine(
            """
            \(say(ready))
            read -r request
            \(say(progress(1, frames: 0..<1)))
            while [ ! -e "$0.seen" ]; do sleep 0.01; done
            \(say(result(framesEncoded: 1)))
            """)
        let seen = engine.path + ".seen"
        try await engine.withEngine { session in
            _ = try await session.perform(reverse(pass: 0)) { _ in
                _ = FileManager.default.createFile(atPath: seen, contents: nil)
            }
        }
    }

    @Test("A failure is thrown as the engine said it, and the engine lives on")
    func failure() async throws {
        let failure = ReelFailure(.videoDamaged(path: "/media/one two.mp4", damage: .missing, time: Rational(7, 25)))
        let engine = try FakeEngine(
            """
            \(say(ready))
            read -r request; \(say(.failure(failure)))
            read -r request; \(say(result(framesEncoded: 1)))
            """)
        try await engine.withEngine { session in
            await #expect(throws: failure) { try await session.perform(reverse(pass: 0)) }
            _ = try await session.perform(reverse(pass: 0))
        }
    }

    @Test("A line that is not an event ends the engine")
    func garbage() async throws {
        let failure = try await breach("echo '{\"progress\":'")
        #expect(failure.words == "engine wrote a line that is not an event: {\"progress\":, at the start of pass 2")
        #expect(failure.cause == .crash)
    }

    @Test("An event out of order ends the engine")
    func outOfPlace() async throws {
        let failure = try await breach(say(ready))
        #expect(failure.words == "engine reported twice that it is ready, at the start of pass 2")
        #expect(failure.cause == .crash)
    }

    @Test("An engine that closes its output ends")
    func closedOutput() async throws {
        let failure = try await breach("exec >&-")
        #expect(failure.words == "engine closed its output, at the start of pass 2")
    }

    @Test("An engine that does not read its requests blocks no other")
    func closedInput() async throws {
        let engine = try FakeEngine("exec <&-; \(say(ready)); exec sleep 1000")
        try await engine.withEngine(stall: .milliseconds(300)) { session in
            let failure = await #expect(throws: ReelFailure.self) { try await session.perform(reverse(pass: 2)) }
            #expect(failure?.words.hasPrefix("engine hung at the start of pass 2") == true)
        }
    }

    /// The failure of a request during which the engine does something that the protocol does not allow.
    private func breach(_ deed: String) async throws -> ReelFailure {
        let engine = try FakeEngine(
            """
            echo $$ > "$0.pid"
            \(say(ready))
            read -r request; \(deed)
            exec sleep 1000
            """)
        let failure = try await engine.withEngine { session in
            let failure = try await #require(throws: ReelFailure.self) { try await session.perform(reverse(pass: 2)) }
            #expect(session.isDead)
            return failure
        }
        #expect(isGone(try engine.process("pid")))
        return failure
    }

    @Test("A result without a request is dropped, and ends the engine")
    func unasked() async throws {
        let engine = try FakeEngine(
            """
            \(say(ready))
            read -r request; \(say(result(framesEncoded: 1))); \(say(result(framesEncoded: 2)))
            exec sleep 1000
            """)
        try await engine.withEngine { session in
            _ = try await session.perform(reverse(pass: 0))
            #expect(try await eventually { session.isDead })
            let failure = await #expect(throws: ReelFailure.self) { try await session.perform(reverse(pass: 2)) }
            #expect(failure?.words == "engine gave a result without a request, between two requests")
        }
    }

    @Test("A flood on standard error and a long request do not deadlock")
    func flood() async throws {
        let engine = try FakeEngine(
            """
            \(say(ready))
            head -c 1000000 /dev/zero | tr '\\0' x >&2
            read -r request
            head -c 1000000 /dev/zero | tr '\\0' y >&2
            echo the end >&2
            \(say(result(framesEncoded: 1)))
            """)
        try await engine.withEngine { session in
            _ = try await session.perform(reverse(pass: 0, finishedChunks: Array(0..<40_000)))
            // Events and standard error are two pipes: the last of one may come after the last of the other.
            #expect(try await eventually { session.standardErrorTail.hasSuffix("the end\n") })
            let tail = session.standardErrorTail
            #expect(tail.utf8.count == 65536)
            #expect(tail.hasPrefix("yyyy"))
        }
    }

    @Test("The engine does not learn how to reach the board")
    func environment() async throws {
        setenv("REEL_REDIS", "redis://:secret@localhost", 1)
        let engine = try FakeEngine(
            """
            env > "$0.environment"
            \(say(ready))
            """)
        try await engine.withEngine { _ in }
        let environment = try engine.file("environment")
        #expect(environment.contains("PATH="))
        #expect(!environment.contains("secret"))
        #expect(environment.contains("SWIFT_BACKTRACE=enable=no\n"), "a crash costs nothing more than itself")
    }
}
