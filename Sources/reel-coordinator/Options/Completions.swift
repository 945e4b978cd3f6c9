internal import ArgumentParser
internal import ReelJobs
internal import ReelQueue
internal import ReelTerminal

/// What a shell offers for the name of a job or of a worker: the board is asked at the press of TAB. Nothing is offered, and
/// nothing said, if there is no Redis, or none that answers within a second.
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
