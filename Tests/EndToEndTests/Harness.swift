import Foundation
import Glibc
import Subprocess
import SystemPackage
import Testing

/// The outcome of a program.
struct Outcome: Sendable {
    let status: TerminationStatus
    let output: String
    let error: String

    /// The exit code; 128 + the signal if one ended it.
    var code: Int {
        switch status {
        case .exited(let code): Int(code)
        case .signaled(let signal): 128 + Int(signal)
        }
    }

    var errorLines: [Substring] { error.split(whereSeparator: \.isNewline) }
}

/// A folder of one test, and the programs run in it. Every process started here, and what it starts in turn, carries a
/// mark in its environment, so that what remains can be found whatever its parents, group or folder are: here, and by
/// scripts/test, which looks for the temporary folder that it gave the tests.
final class ProcessFixture: Sendable {
    let folder: String
    private let mark = "reel-tests-\(UUID().uuidString)"
    private let lease: String?

    /// The lease of the programs, in seconds. A worker beats every quarter of it. After a restart of Redis it needs up to 2 s
    /// to connect again besides, so that a beat may be late by 2.5 s then, and by 4.5 s at any other time.
    private static let briefLease = ProcessInfo.processInfo.environment["REEL_TEST_LEASE"] ?? "6"

    /// - Parameter keepsLease: whether programs have the lease of production. Otherwise it is short, so that tests in which a
    ///   process dies need not wait for long.
    init(keepsLease: Bool = false) throws {
        lease = keepsLease ? nil : ProcessFixture.briefLease
        folder = "/tmp/\(mark.prefix(19))"
        try FileManager.default.createDirectory(atPath: folder + "/tmp", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// A copy of a file under its own name or another.
    func copy(_ source: String, as name: String) throws -> String {
        try FileManager.default.copyItem(atPath: source, toPath: path(name))
        return path(name)
    }

    /// Names in the folder, sorted; the temporary folder of the programs only if it is not empty.
    var names: [String] {
        let files = FileManager.default
        let names = ((try? files.contentsOfDirectory(atPath: folder)) ?? []).sorted()
        let left = (try? files.contentsOfDirectory(atPath: path("tmp"))) ?? []
        return names.filter { $0 != "tmp" } + left.map { "tmp/" + $0 }
    }

    /// Command lines of processes that were started here and still run.
    var processes: [String] { Array(running.values) }

    /// Kills a process that was started here and whose command line contains `words`, any if they are empty, or sends it
    /// another signal; false if there is none.
    func kill(_ words: String, by signal: Int32 = SIGKILL) -> Bool {
        // No text contains an empty one.
        guard let victim = running.first(where: { words.isEmpty || $0.value.contains(words) }) else { return false }
        // A process that has just ended by itself counts as killed.
        return Glibc.kill(victim.key, signal) == 0 || errno == ESRCH
    }

    /// The states, as proc(5) names them, of processes that were started here and whose command line contains `words`.
    func states(of words: String) -> [String] {
        running.filter { $0.value.contains(words) }.compactMap { process, _ in
            let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            return line?.split(separator: ")").last?.split(separator: " ").first.map(String.init)
        }
    }

    private var running: [pid_t: String] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap(pid_t.init).reduce(into: [:]) { found, entry in
            guard let environment = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(entry)/environ")),
                environment.range(of: Data(mark.prefix(19).utf8)) != nil,
                let command = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(entry)/cmdline")), !command.isEmpty
            else { return }
            found[entry] = String(decoding: command.map { $0 == 0 ? 32 : $0 }, as: UTF8.self)
        }
    }

    /// Whether every process that was started here ends.
    func isQuiet() async throws -> Bool { try await eventually { self.processes.isEmpty } }

    /// Runs a program to its end.
    @discardableResult
    func run(_ program: Program, _ arguments: [String], environment: [String: String] = [:]) async throws -> Outcome {
        try await run(program, arguments, environment: environment) { _ in }
    }

    /// Runs a program, and beside it `body`, which may send it signals.
    @discardableResult
    func run(
        _ program: Program, _ arguments: [String], environment: [String: String] = [:],
        beside body: @escaping @Sendable (Running) async throws -> Void
    ) async throws -> Outcome {
        var variables: [Environment.Key: String?] = [
            "REEL_BENCH": "\(mark) \(NSTemporaryDirectory())", "REEL_REDIS": nil, "REEL_STORE": nil,
            "REEL_TEST_LEASE": lease, "TMPDIR": path("tmp"),
        ]
        for (name, value) in environment { variables[Environment.Key(stringLiteral: name)] = value }
        var options = PlatformOptions()
        options.processGroupID = 0
        let result = try await Subprocess.run(
            program.executable, arguments: Arguments(arguments), environment: .inherit.updating(variables),
            workingDirectory: FilePath(folder), platformOptions: options, input: .none, output: .string(limit: 1 << 24),
            error: .string(limit: 1 << 20)
        ) { execution in
            try await body(Running(pid: execution.processIdentifier.value) { try execution.send(signal: $0) })
        }
        return Outcome(status: result.terminationStatus, output: result.standardOutput, error: result.standardError)
    }
}

/// A program that is being run.
struct Running: Sendable {
    let pid: pid_t
    let send: @Sendable (Signal) throws -> Void

    init(pid: pid_t, send: @escaping @Sendable (Signal) throws -> Void) {
        self.pid = pid
        self.send = send
    }

    private var isAlive: Bool { ProcessFacts(pid)?.isAlive ?? false }

    /// Waits until a condition holds; false if it does not within three minutes. Throws if the program ends before that.
    func waits(until condition: @Sendable () async throws -> Bool) async throws -> Bool {
        try await eventually {
            if try await condition() { return true }
            guard isAlive else { throw Ended() }
            return false
        }
    }

    /// Waits for the program's end; false if it does not end within three minutes.
    func ends() async throws -> Bool { try await eventually { !isAlive } }

    struct Ended: Error, CustomStringConvertible { let description = "the program ended before what was waited for" }
}

enum Program: Sendable {
    case coordinator, worker, ffmpeg, ffprobe, redis
    /// A program of reel, or a substitute for one, at another path.
    case at(String)

    var executable: Executable {
        switch self {
        case .coordinator: .path(FilePath(Program.folder + "/reel-coordinator"))
        case .worker: .path(FilePath(Program.folder + "/reel-worker"))
        case .ffmpeg: .name("ffmpeg")
        case .ffprobe: .name("ffprobe")
        case .redis: .name("redis-server")
        case .at(let path): .path(FilePath(path))
        }
    }

    /// The folder of the built programs: that of the running test bundle.
    static let folder: String = {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().path
    }()
}

/// Waits until a condition holds; false if it does not within three minutes. The limit only tells a hang: how fast the machine
/// is decides no test.
func eventually(_ condition: @Sendable () async throws -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(180)
    while try await !condition() {
        guard ContinuousClock.now < deadline else { return false }
        try await Task.sleep(for: .milliseconds(50))
    }
    return true
}

/// All of them share two cores and some look for processes, so one runs at a time.
@Suite(.serialized) struct EndToEnd {}
