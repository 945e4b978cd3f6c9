internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelTerminal
internal import ReelWords
internal import Synchronization

extension RedisOption {
    /// A service whose Redis has answered. If Redis stops answering later, for example because it restarts, calls wait
    /// for it for a minute, and a line says so.
    ///
    /// - Parameter warnings: whether to print what makes this Redis unfit to keep a board.
    func service(_ store: (any JobStore)? = nil, warnings: Bool = false) async throws(ReelFailure) -> JobService {
        let (address, namespace, process) = (try address(), try namespace(), ProcessInfo.processInfo.processIdentifier)
        let notes = Notes()
        let patience = RedisPatience(.seconds(60)) { notes.say($0) }
        let service = JobService(store: store, advice: { Advice.text(for: $0) }) {
            RedisBoard(address, name: "reel-coordinator-\(process)", namespace: namespace, patience: patience)
        }
        try await service.reach()
        if warnings {
            for diagnostic in try await service.diagnostics() { console.warn(diagnostic) }
        }
        return service
    }

    /// A service whose Redis has answered, for changes: its board and its store belong together.
    func service(joining store: any JobStore, warnings: Bool = false) async throws(ReelFailure) -> JobService {
        let service = try await service(store, warnings: warnings)
        try await service.join()
        return service
    }
}

/// Prints lines on standard error, each of them only once.
final class Notes: Sendable {
    private let said = Mutex(Set<String>())

    func say(_ line: String) { if said.withLock({ $0.insert(line).inserted }) { console.say(line) } }

    /// Why Redis does not answer.
    func say(_ failure: ReelFailure) { say("waiting for Redis: \(failure.words)") }
}

/// The completions that a shell offers for the name of a job or of a worker: the board is asked when the user presses
/// TAB. If Redis does not answer within a second, nothing is offered, and no message appears.
extension CompletionKind {
    /// Ids of jobs, and `@`.
    static let jobs = CompletionKind.custom { words, _, _ in
        await answers(words) { service in try await ["@"] + service.jobs().jobs.map(\.id) }
    }

    /// Ids of workers, and the names of their hosts.
    static let workers = CompletionKind.custom { words, _, _ in
        await answers(words) { service in
            let workers = try await service.workers()
            return (workers.map(\.id) + workers.map(\.host)).removingRepeats
        }
    }

    /// - Parameter words: the command line so far, which may name Redis.
    private static func answers(
        _ words: [String], _ question: (JobService) async throws -> [String]
    ) async -> [String] {
        do {
            let redis = RedisOption(url: words.drop { $0 != "--redis" }.dropFirst().first)
            let (address, namespace) = (try redis.address(), try redis.namespace())
            let timing = BoardTiming(connectTimeout: .seconds(1), answerTimeout: .seconds(1))
            let service = JobService(
                store: nil,
                board: { RedisBoard(address, name: "reel-completion", namespace: namespace, timing: timing) })
            return try await question(service)
        } catch {
            return []
        }
    }
}
