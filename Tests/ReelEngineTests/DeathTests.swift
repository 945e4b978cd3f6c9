import Foundation
import ReelCore
import ReelEngine
import ReelWords
import Synchronization
import Testing

@Suite("An engine's death", .timeLimit(.minutes(10)))
struct DeathTests {
    /// An engine that works on frames 240..<480 when it does `deed`.
    private func engine(_ deed: String) throws -> FakeEngine {
        try FakeEngine(
            """
            echo $$ > "$0.pid"
            \(say(ready))
            read -r request
            \(say(progress(250, frames: 240..<480)))
            \(deed)
            """)
    }

    private func failure(
        _ engine: FakeEngine, stall: Duration = .seconds(30), silence: Duration = .seconds(60)
    ) async throws -> ReelFailure {
        try await engine.withEngine(stall: stall, silence: silence) { session in
            let failure = try await #require(throws: ReelFailure.self) { try await session.perform(reverse(pass: 7)) }
            #expect(session.isDead)
            await #expect(throws: failure) { try await session.perform(reverse(pass: 8)) }
            return failure
        }
    }

    @Test("A crash names the signal, the frames and the pass")
    func signal() async throws {
        let failure = try await failure(engine("kill -SEGV $$"))
        #expect(failure.words == "engine died of signal 11 (SIGSEGV) at frames 240..<480 of pass 7")
        #expect(failure.cause == .crash)
        #expect(failure.kind == .job)
    }

    @Test("A crash before the first progress names the pass")
    func early() async throws {
        let engine = try FakeEngine("\(say(ready)); read -r request; kill -ABRT $$")
        let failure = try await failure(engine)
        #expect(failure.words == "engine died of signal 6 (SIGABRT) at the start of pass 7")
    }

    @Test("What the engine last said is in the message and in the tail")
    func lastWords() async throws {
        let engine = try engine("echo first >&2; echo 'bad\u{1B}[31m slice' >&2; echo >&2; kill -BUS $$")
        try await engine.withEngine { session in
            let failure = await #expect(throws: ReelFailure.self) { try await session.perform(reverse(pass: 7)) }
            #expect(
                failure?.words
                    == "engine died of signal 7 (SIGBUS) at frames 240..<480 of pass 7; it last said: bad\u{FFFD}[31m slice"
            )
            #expect(session.standardErrorTail == "first\nbad\u{1B}[31m slice\n\n")
        }
    }

    @Test("An exit during a request is a crash, whatever the exit code")
    func leaving() async throws {
        let failure = try await failure(engine("exit 0"))
        #expect(failure.words == "engine exited with code 0 at frames 240..<480 of pass 7")
        #expect(failure.cause == .crash)
    }

    @Test("An engine that died between two requests fails the next request")
    func idleDeath() async throws {
        let engine = try FakeEngine("\(say(ready)); kill -KILL $$")
        try await engine.withEngine { session in
            try #require(await eventually { session.isDead })
            let failure = await #expect(throws: ReelFailure.self) { try await session.perform(reverse(pass: 7)) }
            #expect(
                failure?.words
                    == "engine died of signal 9 (SIGKILL: perhaps the kernel ran out of memory) between two requests")
        }
    }

    @Test("An engine that neither reports nor computes is killed")
    func stall() async throws {
        let engine = try engine("exec sleep 1000")
        let failure = try await failure(engine, stall: .seconds(2))
        #expect(failure.words == "engine hung at frames 240..<480 of pass 7: no event and no CPU used for 2.000 s")
        #expect(failure.cause == .crash)
        #expect(isGone(try engine.process("pid")))
    }

    @Test("An engine that computes is not stalled")
    func busy() async throws {
        let engine = try FakeEngine(
            """
            \(say(ready))
            read -r request
            while [ ! -e "$0.enough" ]; do :; done
            \(say(result(framesEncoded: 1)))
            """)
        let enough = engine.path + ".enough"
        try await engine.withEngine(stall: .seconds(1)) { session in
            async let answer = session.perform(reverse(pass: 0))
            try await Task.sleep(for: .seconds(2.5))
            #expect(!session.isDead)
            try #require(FileManager.default.createFile(atPath: enough, contents: nil))
            _ = try await answer
        }
    }

    @Test("An engine that computes for ever without a report is killed")
    func silence() async throws {
        let engine = try engine("while :; do :; done")
        let failure = try await failure(engine, silence: .seconds(3))
        #expect(failure.words == "engine hung at frames 240..<480 of pass 7: no event for 3.000 s")
        #expect(isGone(try engine.process("pid")))
    }

    @Test("An engine without a request may be silent")
    func idle() async throws {
        let engine = try FakeEngine(
            """
            \(say(ready))
            read -r request; \(say(result(framesEncoded: 1)))
            """)
        // A busy machine makes the request itself wait, too.
        try await engine.withEngine(stall: .seconds(8), silence: .seconds(8)) { session in
            try await Task.sleep(for: .seconds(9))
            _ = try await session.perform(reverse(pass: 0))
        }
    }

    @Test("Cancelling kills the engine and what it started, though they ignore signals")
    func cancelling() async throws {
        let engine = try engine(
            """
            trap '' TERM INT HUP
            sleep 1000 & echo $! > "$0.child"
            \(say(progress(251, frames: 240..<480)))
            while :; do sleep 1000; done
            """)
        let (atWork, announce) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await engine.withEngine { session in
                _ = try await session.perform(reverse(pass: 7)) { event in
                    if event.decoded == 251 { announce.finish() }
                }
            }
        }
        for await _ in atWork {}
        let (parent, child) = (try engine.process("pid"), try engine.process("child"))
        #expect(!isGone(parent) && !isGone(child))
        task.cancel()
        let failure = await #expect(throws: ReelFailure.self) { try await task.value }
        #expect(failure?.kind == .interrupted)
        #expect(kill(parent, 0) == -1, "the engine is not reaped")
        #expect(try await eventually { isGone(child) })
    }

    @Test("Cancelling only the request kills the engine, too")
    func cancellingRequest() async throws {
        let engine = try engine("exec sleep 1000")
        let (atWork, announce) = AsyncStream.makeStream(of: Void.self)
        try await engine.withEngine { session in
            let request = Task {
                try await session.perform(reverse(pass: 7)) { _ in announce.finish() }
            }
            for await _ in atWork {}
            request.cancel()
            let failure = await #expect(throws: ReelFailure.self) { try await request.value }
            #expect(failure?.kind == .interrupted)
            #expect(failure?.words == "interrupted at frames 240..<480 of pass 7")
            #expect(session.isDead)
        }
        #expect(kill(try engine.process("pid"), 0) == -1)
    }

    @Test("After the body, however it ends, nothing of the engine is left", arguments: [false, true])
    func afterwards(throwing: Bool) async throws {
        struct Thrown: Error {}
        let engine = try FakeEngine(
            """
            echo $$ > "$0.pid"
            sleep 1000 & echo $! > "$0.child"
            \(say(ready))
            wait
            """)
        do {
            try await engine.withEngine { _ in if throwing { throw Thrown() } }
            #expect(!throwing)
        } catch is Thrown {
            #expect(throwing)
        }
        #expect(kill(try engine.process("pid"), 0) == -1)
        let child = try engine.process("child")
        #expect(try await eventually { isGone(child) })
    }

    @Test("What a crashed engine started does not outlive it")
    func orphans() async throws {
        let engine = try engine("sleep 1000 & echo $! > \"$0.child\"; kill -SEGV $$")
        let failure = try await failure(engine)
        #expect(failure.words.hasPrefix("engine died of signal 11 (SIGSEGV)"))
        let child = try engine.process("child")
        #expect(try await eventually { isGone(child) })
    }
}

@Suite("An engine's start", .timeLimit(.minutes(10)))
struct StartTests {
    private func failure(_ engine: FakeEngine, stall: Duration = .seconds(30)) async -> ReelFailure? {
        await #expect(throws: ReelFailure.self) {
            try await engine.withEngine(stall: stall) { _ in Issue.record("there is no engine") }
        }
    }

    @Test("A missing program is a failure of this host that names it")
    func missing() async {
        let host = EngineHost(executable: "/nowhere/reel-engine")
        let failure = await #expect(throws: ReelFailure.self) {
            try await host.withEngine(memory: nil, scope: .nothing) { _ in Issue.record("there is no engine") }
        }
        #expect(failure?.cause == .incompatible)
        #expect(failure?.words.contains("/nowhere/reel-engine") == true)
    }

    @Test("An engine that never gets ready is killed")
    func neverReady() async throws {
        let engine = try FakeEngine("echo $$ > \"$0.pid\"; exec sleep 1000")
        let failure = await failure(engine, stall: .milliseconds(300))
        #expect(failure?.words == "engine hung at its start: no event and no CPU used for 0.300 s")
        #expect(failure?.cause == .crash)
        #expect(isGone(try engine.process("pid")))
    }

    @Test("An engine that cannot start says why")
    func leaves() async throws {
        let engine = try FakeEngine("echo 'libavcodec.so.59: cannot open shared object file' >&2; exit 127")
        let failure = await failure(engine)
        #expect(
            failure?.words == "engine exited with code 127 at its start; "
                + "it last said: libavcodec.so.59: cannot open shared object file")
    }

    @Test("An engine of another release is refused")
    func otherVersion() async throws {
        let other = EngineEvent.ready(EngineIdentity(version: Wire.version + 1, encoders: [], sandbox: .none))
        let failure = await failure(try FakeEngine(say(other)))
        #expect(failure?.cause == .incompatible)
        #expect(failure?.words.contains("version \(Wire.version + 1)") == true)
    }

    @Test("Cancelling while the engine starts kills it")
    func cancelling() async throws {
        let engine = try FakeEngine("echo $$ > \"$0.pid\"; exec sleep 1000")
        let task = Task {
            try await engine.withEngine { _ in Issue.record("there is no engine") }
        }
        #expect(try await eventually { (try? engine.process("pid")) != nil })
        task.cancel()
        let failure = await #expect(throws: ReelFailure.self) { try await task.value }
        #expect(failure?.kind == .interrupted)
        #expect(kill(try engine.process("pid"), 0) == -1)
    }
}
