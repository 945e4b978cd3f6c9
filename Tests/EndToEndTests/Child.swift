import Foundation
import Glibc

/// A program that runs beside its test until it ends or is ended.
final class Child: Sendable {
    let pid: pid_t
    private let end: Task<Outcome, any Error>

    fileprivate init(pid: pid_t, end: Task<Outcome, any Error>) {
        self.pid = pid
        self.end = end
    }

    /// Its outcome; waits for its end.
    var outcome: Outcome { get async throws { try await end.value } }

    var isRunning: Bool { ProcessFacts(pid)?.isAlive ?? false }

    func send(_ signal: Int32) { if isRunning { Glibc.kill(pid, signal) } }

    func kill() async throws -> Outcome {
        send(SIGKILL)
        return try await outcome
    }

    /// Ends it as a service manager would.
    func end() async throws -> Outcome {
        send(SIGCONT)
        send(SIGTERM)
        return try await outcome
    }

    /// Processes that it started, and that run.
    func children(_ words: String) -> [pid_t] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap(pid_t.init).filter { entry in
            guard let facts = ProcessFacts(entry), facts.parent == pid, facts.isAlive else { return false }
            let command = (try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(entry)/cmdline"))) ?? Data()
            return command.range(of: Data(words.utf8)) != nil
        }
    }
}

extension ProcessFixture {
    /// Starts a program and goes on.
    func start(_ program: Program, _ arguments: [String], environment: [String: String] = [:]) async throws -> Child {
        let (started, announce) = AsyncStream<pid_t>.makeStream()
        let end = Task {
            defer { announce.finish() }
            return try await run(program, arguments, environment: environment) { running in
                announce.yield(running.pid)
                announce.finish()
            }
        }
        for await pid in started { return Child(pid: pid, end: end) }
        _ = try await end.value
        throw Running.Ended()
    }
}

/// The kernel's information about a process.
struct ProcessFacts {
    let parent: pid_t
    private let state: Substring

    /// Nil if there is no such process.
    init?(_ pid: pid_t) {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 1,
            let parent = pid_t(fields[1])
        else { return nil }
        self.parent = parent
        state = fields[0]
    }

    /// One that has ended, and was not waited for yet, is a zombie.
    var isAlive: Bool { state != "Z" && state != "X" }
}
