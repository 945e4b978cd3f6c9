internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelPipeline
internal import ReelQueue
internal import ReelStore
internal import ReelWords

/// Where the board is.
struct RedisOption: ParsableArguments {
    @Option(help: ArgumentHelp("Redis; REEL_REDIS names another default.", valueName: "url"))
    var redis = ProcessInfo.processInfo.environment["REEL_REDIS"] ?? "redis://127.0.0.1:6379"

    /// A board that has answered. Says what is wrong with the Redis, if it can be worked with all the same.
    func connect(warnings: Bool = false) async throws(ReelFailure) -> Board {
        let address = try RedisAddress(redis)
        let board = Board(address, name: "reel-coordinator-\(ProcessInfo.processInfo.processIdentifier)")
        do {
            try await board.ping()
        } catch {
            throw ReelFailure(.redisUnusable(last: error))
        }
        if warnings {
            for warning in try await board.diagnostics() { Console.say("warning: \(warning.words)") }
        }
        return board
    }
}

/// Where the bytes are that coordinator and workers share.
struct StoreOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("Folder that coordinator and workers share; REEL_STORE names a default.", valueName: "dir"))
    var store: String?

    private var root: String? { store ?? ProcessInfo.processInfo.environment["REEL_STORE"] }

    func open() throws(ReelFailure) -> Store {
        try Store(root: path())
    }

    /// Makes a store where there is none, for a group to share.
    func make() throws(ReelFailure) -> Store { try Store.make(root: path(), mode: 0o2770) }

    private func path() throws(ReelFailure) -> String {
        guard let root else { throw ReelFailure(.storeNotNamed) }
        // An empty path would be the current folder.
        guard !root.isEmpty else { throw ReelFailure(.storeNameEmpty) }
        return URL(fileURLWithPath: root).path
    }

    /// Nil where none is named: what is shown needs none.
    func openIfNamed() throws(ReelFailure) -> Store? { root == nil ? nil : try open() }
}

/// Where a result goes.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write; its extension chooses the container. Default: NAME.reversed.EXT beside the source.",
            valueName: "file"))
    var output: String?

    @Flag(help: "Replace the output if it exists.")
    var overwrite = false

    func choice(for source: String, lossless: Bool) throws(ReelFailure) -> OutputChoice {
        try OutputChoice(output, for: source, lossless: lossless)
    }
}
