import Foundation
import Glibc
import ReelCore
import ReelEngine
import Testing

/// Attacks of an engine that a hostile file has taken over. Each fails inside the sandbox; outside it succeeds, which shows
/// that the test can fail.
@Suite("Attacks", .timeLimit(.minutes(10)))
struct AttackTests {
    /// An attack on what is around an engine.
    struct Attack: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The attack's name and aims, for the probe engine.
        let words: @Sendable (Surroundings) -> [String]
        /// Whether the kernel kills the engine, or only refuses.
        var kills = false
        /// The part of the sandbox that prevents it.
        var by = SandboxPart.calls
        /// Whether it succeeds without the sandbox on every machine.
        var hasControl = true
    }

    static let attacks = [
        Attack(testDescription: "reading a file of the system", words: { _ in ["read", "/etc/passwd"] }, by: .files),
        Attack(
            testDescription: "the same through /proc", words: { _ in ["read", "/proc/self/root/etc/passwd"] },
            by: .files),
        Attack(testDescription: "reading the job's record", words: { ["read", $0.record] }, by: .files),
        Attack(testDescription: "reading another job's segment", words: { ["read", $0.other] }, by: .files),
        Attack(testDescription: "writing in another job's segment", words: { ["write", $0.other] }, by: .files),
        Attack(testDescription: "listing the jobs", words: { ["list", $0.jobs] }, by: .files),
        Attack(testDescription: "writing the job's record", words: { ["write", $0.record] }, by: .files),
        Attack(testDescription: "writing the source", words: { ["write", $0.source] }, by: .files),
        Attack(
            testDescription: "making a file beside the record", words: { ["write", $0.job + "/output.mkv"] }, by: .files
        ),
        Attack(
            testDescription: "moving the record to its own files",
            words: { ["rename", $0.record, $0.segments + "/r"] }, by: .files),
        Attack(
            testDescription: "linking the record to its own files", words: { ["link", $0.record, $0.segments + "/r"] }),
        Attack(
            testDescription: "making a symbolic link for the worker",
            words: { ["symlink", "/etc/passwd", $0.segments + "/s"] }),
        Attack(testDescription: "opening the source to all", words: { ["mode", $0.source] }),
        Attack(testDescription: "making a program of its user", words: { ["setuid", $0.segments + "/p"] }),
        Attack(testDescription: "truncating the source", words: { ["truncate", $0.source] }),
        Attack(testDescription: "connecting over TCP", words: { ["tcp", "\($0.tcp.port)"] }, kills: true),
        Attack(testDescription: "sending over UDP", words: { ["udp", "\($0.udp.port)"] }, kills: true),
        Attack(
            testDescription: "connecting to a socket in a folder", words: { ["unix", $0.socket.name] }, kills: true),
        Attack(
            testDescription: "connecting to an abstract socket", words: { ["unix", $0.abstract.name] }, kills: true),
        Attack(testDescription: "becoming another program", words: { ["exec", $0.succeeding] }, kills: true),
        Attack(testDescription: "making a process", words: { _ in ["fork"] }, kills: true),
        Attack(testDescription: "tracing its parent", words: { _ in ["trace"] }, kills: true),
        Attack(testDescription: "reading its parent's memory", words: { ["memory", "\($0.address)"] }, kills: true),
        Attack(testDescription: "reading its parent's memory through /proc", words: { _ in ["mem"] }, by: .files),
        Attack(testDescription: "reading its parent's environment", words: { _ in ["environ"] }, by: .files),
        Attack(testDescription: "reading its parent's arguments", words: { _ in ["cmdline"] }, by: .files),
        Attack(testDescription: "sending its parent a signal", words: { _ in ["signal"] }, kills: true),
        Attack(testDescription: "having the kernel send its parent signals", words: { _ in ["owner"] }),
        Attack(testDescription: "making memory for code", words: { _ in ["code"] }),
        Attack(testDescription: "making code of data", words: { _ in ["protect"] }),
        Attack(testDescription: "changing its limits", words: { _ in ["limit"] }),
        Attack(testDescription: "holding memory as root may", words: { _ in ["lock"] }),
        Attack(testDescription: "making namespaces", words: { _ in ["namespace"] }, kills: true, hasControl: false),
        Attack(testDescription: "making an io_uring", words: { _ in ["ring"] }, kills: true, hasControl: false),
        Attack(testDescription: "reading keys", words: { _ in ["key"] }, kills: true, hasControl: false),
    ]

    enum Outcome: Equatable {
        case succeeded, refused, killed
    }

    /// Starts an engine in the surroundings and has it attack.
    private func outcome(
        _ words: [String], in surroundings: Surroundings, _ mode: SandboxMode, limits: EngineLimits = EngineLimits()
    ) async throws -> (outcome: Outcome, state: SandboxState) {
        // They must last as long as the engine.
        defer { withExtendedLifetime(surroundings) {} }
        let host = EngineHost(executable: ProbePrograms.engine, limits: limits, sandbox: mode)
        return try await host.withEngine(memory: nil, scope: surroundings.scope) { engine in
            do throws(ReelFailure) {
                let request = ReconRequest(source: .file(words.joined(separator: "\t")), index: .file(""))
                let result = try await engine.perform(.recon(request))
                guard case .recon(let answer) = result, let number = Int32(answer.indexHash), number >= 0 else {
                    throw ReelFailure(.engineMisanswered(task: .recon))
                }
                return (number == 0 ? .succeeded : .refused, engine.identity.sandbox)
            } catch {
                guard case .engineDied(_, .signalled(SIGSYS), _) = error.reason else { throw error }
                return (.killed, engine.identity.sandbox)
            }
        }
    }

    @Test("fails in the sandbox", arguments: attacks)
    func attack(attack: Attack) async throws {
        let surroundings = try Surroundings()
        let (outcome, state) = try await outcome(attack.words(surroundings), in: surroundings, .try)
        guard !state.missing.contains(attack.by) else { return }
        #expect(outcome == (attack.kills ? .killed : .refused))
    }

    @Test("succeeds without it", .enabled(if: getuid() == 0), arguments: attacks.filter(\.hasControl))
    func control(attack: Attack) async throws {
        let surroundings = try Surroundings()
        let (outcome, state) = try await outcome(attack.words(surroundings), in: surroundings, .off)
        #expect(outcome == .succeeded)
        #expect(state == .none)
    }

    @Test("The work of a job succeeds in the sandbox", arguments: [SandboxMode.try, .off])
    func work(mode: SandboxMode) async throws {
        let surroundings = try Surroundings()
        let words = ["work", surroundings.source, surroundings.segments]
        #expect(try await outcome(words, in: surroundings, mode).outcome == .succeeded)
    }

    @Test("An engine starts with limits, and with nothing of its parent's", arguments: [SandboxMode.try, .off])
    func start(mode: SandboxMode) async throws {
        let surroundings = try Surroundings()
        setenv("REEL_TEST_SECRET", "topsecret", 1)
        var scope = surroundings.scope
        scope.fileBytes = 1 << 20
        let host = EngineHost(executable: ProbePrograms.engine, sandbox: mode)
        let facts = try await host.withEngine(memory: nil, scope: scope) { engine in
            let request = ReconRequest(source: .file("facts"), index: .file(""))
            guard case .recon(let answer) = try await engine.perform(.recon(request)) else { return [Substring]() }
            return answer.indexHash.split(separator: " ")
        }
        #expect(facts.prefix(6) == ["/", "true", "0", "132", "65", "1048576"])
        let kept = ["LANG", "PATH", "TMPDIR", "SWIFT_BACKTRACE"]
        #expect(
            facts.dropFirst(6).allSatisfy { name in
                kept.contains(String(name)) || ["LC_", "LD_", "MALLOC_"].contains { name.hasPrefix($0) }
            }, "\(facts)")
    }

    @Test("Too many threads end the engine, also without the sandbox", arguments: [SandboxMode.try, .off])
    func threads(mode: SandboxMode) async throws {
        let failure = try await #require(throws: ReelFailure.self) {
            try await outcome(["threads", "60"], in: Surroundings(), mode, limits: EngineLimits(threads: 50))
        }
        guard case .engineNonsense(_, let nonsense, _) = failure.reason else { throw failure }
        #expect(nonsense == .manyThreads(most: 50))
    }

    @Test("A process that would outlive the engine cannot be made")
    func outliving() async throws {
        let surroundings = try Surroundings()
        let numbers = surroundings.segments + "/numbers"
        try Data().write(to: URL(filePath: numbers))
        let (confined, state) = try await outcome(["outlive", numbers], in: surroundings, .try)
        #expect(confined == .killed || state.missing.contains(.calls))
        guard confined == .killed else { return }
        #expect(try Data(contentsOf: URL(filePath: numbers)).isEmpty)
        // Without the sandbox it lives on: this process adopts no orphans, as worker and coordinator do.
        #expect(try await outcome(["outlive", numbers], in: surroundings, .off).outcome == .succeeded)
        var number = pid_t(0)
        for _ in 0..<1000 where number == 0 {
            let bytes = try Data(contentsOf: URL(filePath: numbers))
            if bytes.count == 4 { number = bytes.withUnsafeBytes { $0.loadUnaligned(as: pid_t.self) } }
            try await Task.sleep(for: .milliseconds(5))
        }
        try #require(number > 1)
        #expect(kill(number, SIGKILL) == 0)
    }
}
