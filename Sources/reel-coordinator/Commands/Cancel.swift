internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelPipeline
internal import ReelQueue
internal import ReelStore

/// Ends jobs.
struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "End jobs; their engines are stopped within seconds.")

    @Argument(help: "Ids of jobs.")
    var jobs: [String]

    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

    func run() async throws {
        let store = try store.open()
        let board = try await redis.connect()
        var unknown: [JobID] = []
        for id in jobs.map(JobID.init) {
            let folder = store.job(id)
            let status = try await board.status(id)
            guard folder.exists || status != nil else {
                unknown.append(id)
                continue
            }
            let runs = status?.state.isTerminal != true
            if runs, folder.exists { try folder.markCancelled(at: Date().timeIntervalSince1970) }
            _ = try await board.cancel(id)
            Console.say(runs ? "cancelled job \(id)" : "job \(id) had ended already")
        }
        if let id = unknown.first { throw JobReader.unknown(id) }
    }
}
