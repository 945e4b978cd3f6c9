public import ArgumentParser
internal import Foundation
internal import Logging
internal import ReelCore
internal import ReelEngine
public import ReelPipeline
internal import ReelQueue
internal import ReelStore
internal import ReelWords

extension ByteSize: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

@main
struct ReelWorker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reel-worker", abstract: "Works on jobs that reel-coordinator submits, until SIGTERM.",
        discussion: "SIGTERM lets passes end that do so in time and hands back the rest; a second one hands back all.")

    @Option(help: "Passes at once, at most. Default: the number of cores.")
    var slots: Int?

    @Option(
        help: ArgumentHelp(
            "Memory that all passes may take together. Default: 0.6 of what there is.", valueName: "size"))
    var memoryTotal: ByteSize?

    @Option(
        help: ArgumentHelp("Folder for what is spilled while working. Default: the temporary one.", valueName: "dir"))
    var scratch: String?

    @Option(help: ArgumentHelp("How long passes may go on after SIGTERM.", valueName: "seconds"))
    var grace = 25

    @Option(help: ArgumentHelp("Redis; REEL_REDIS names another default.", valueName: "url"))
    var redis = ProcessInfo.processInfo.environment["REEL_REDIS"] ?? "redis://127.0.0.1:6379"

    @Option(
        help: ArgumentHelp("Folder that coordinator and workers share; REEL_STORE names a default.", valueName: "dir"))
    var store: String?

    func validate() throws {
        let limit = WorkerSettings.slotLimit
        guard limit.contains(slots ?? 1) else {
            throw ValidationError("--slots must be \(limit.lowerBound) to \(limit.upperBound)")
        }
        guard grace >= 0 else { throw ValidationError("--grace must not be negative") }
    }

    func run() async throws {
        LoggingSystem.bootstrap { LegibleLogHandler(StreamLogHandler.standardError(label: $0)) }
        guard let store = store ?? ProcessInfo.processInfo.environment["REEL_STORE"] else {
            throw ReelFailure(.storeNotNamed)
        }
        guard !store.isEmpty else { throw ReelFailure(.storeNameEmpty) }
        let scratch = scratch ?? FileManager.default.temporaryDirectory.path
        guard FileManager.default.isWritableFile(atPath: scratch) else {
            throw ReelFailure(.folderUnwritable(path: scratch, errno: nil))
        }
        let log = Logger(label: "reel-worker")
        let worker = Worker(
            redis: try RedisAddress(redis), store: try Store(root: URL(fileURLWithPath: store).path),
            engine: EngineHost(executable: try Programs().path("reel-engine")),
            settings: WorkerSettings(
                slots: slots ?? ProcessInfo.processInfo.activeProcessorCount,
                memoryTotal: memoryTotal?.bytes ?? HostMemory.budget, scratch: scratch, grace: .seconds(grace)),
            log: log)
        try await worker.runUntilSignalled()
    }

    static func main() async {
        do {
            try CommandArguments.check()
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            Foundation.exit(0)
        } catch {
            Foundation.exit(report(error))
        }
    }

    /// What a person at this command line can do; the libraries know no options.
    private static func advice(on reason: FailureReason) -> String? {
        switch reason {
        case .storeMissing: "reel-coordinator init makes one"
        case .storeNotNamed, .storeNameEmpty: "name it with --store or REEL_STORE"
        case .folderUnwritable: "name another folder with --scratch"
        default: nil
        }
    }

    private static func report(_ error: any Error) -> Int32 {
        if let failure = error as? ReelFailure {
            let message = ([failure.words] + [advice(on: failure.reason)].compactMap(\.self)).joined(separator: "; ")
            FileHandle.standardError.write(Data("reel-worker: \(Legible.line(message))\n".utf8))
            return failure.exitCode
        }
        let code = ExitCodes.mapped(argumentParser: exitCode(for: error).rawValue)
        let message = message(for: error)
        let text =
            code == 0 ? message : "reel-worker: \(Legible.line(ExitCodes.line(of: message))); see reel-worker --help"
        (code == 0 ? FileHandle.standardOutput : .standardError).write(Data((text + "\n").utf8))
        return code
    }
}
