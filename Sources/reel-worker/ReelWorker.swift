internal import ArgumentParser
internal import Foundation
internal import Logging
internal import ReelCore
internal import ReelEngine
internal import ReelHost
internal import ReelQueue
internal import ReelStore
internal import ReelTerminal
internal import ReelWords
internal import ReelWork
internal import ServiceLifecycle
internal import UnixSignals

/// Messages to the user; the log is separate.
private let console = Console(name: "reel-worker") { reason in
    switch reason {
    case .folderUnwritable: "name another folder with --scratch"
    default: Console.usualAdvice(for: reason)
    }
}

@main
struct ReelWorker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reel-worker", abstract: "Works on jobs that reel-coordinator submits, until SIGTERM.",
        discussion: HelpText.text(
            "SIGTERM lets passes end that do so in time and hands back the rest; a second one hands back all.",
            HelpText.examples(examples),
            HelpText.environment(
                [
                    .redis, .redisFile, .namespace, .store, .sandbox, .sourceRoots, .sourceHosts, .configuration,
                    .temporary,
                ] + HelpText.Variable.ofNetwork),
            HelpText.exitCodes),
        version: Release.version)

    private static let examples: [String] = {
        let usual = [
            "reel-worker --redis redis://10.0.0.5:6379 --store /mnt/reel",
            "reel-worker --slots 4 --memory-total 8GiB --scratch /var/tmp",
        ]
        #if LISTENS
            return usual + ["reel-worker --store /mnt/reel --listen 127.0.0.1:8081"]
        #else
            return usual
        #endif
    }()

    @OptionGroup var slots: SlotOptions

    @Option(
        help: ArgumentHelp("Folder for temporary files, such as spills. Default: the system's.", valueName: "dir"),
        completion: .directory)
    var scratch: String?

    @Option(help: ArgumentHelp("How long passes may go on after SIGTERM. Default: 25.", valueName: "seconds"))
    var grace: Int?

    #if LISTENS
        @Option(
            help: ArgumentHelp(
                "Tell there over HTTP how the worker is: /healthz, /readyz and /metrics. Default: nowhere.",
                valueName: "host:port"), transform: Address.read)
        var listen: Address?
    #endif

    /// `run` shows progress more often than a farm needs to know it.
    @Option(help: ArgumentHelp("Between two reports to the board.", valueName: "seconds", visibility: .hidden))
    var beat: Double?

    /// `run` does the jobs that it was asked for; its store may have others, of runs that were interrupted.
    @Flag(help: ArgumentHelp("Leave jobs of the store alone that the board does not have.", visibility: .hidden))
    var alone = false

    @OptionGroup var log: LogOptions
    @OptionGroup var sandbox: SandboxOption
    @OptionGroup var sources: SourceRootOption

    @Option(
        help: ArgumentHelp(
            """
            Read sources from this web server, too, as media.example.org, from a network, as 10.0.0.0/8, or from this \
            bucket alone, as s3://footage. May be repeated; REEL_SOURCE_HOSTS sets the default. Without either, no URL is \
            read, and every bucket that the keys allow.
            """, valueName: "host"))
    var sourceHost: [String] = []

    @OptionGroup var quotas: QuotaOptions
    @OptionGroup var passQuotas: PassQuotaOptions
    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

    mutating func validate() throws {
        grace = try grace ?? Settings.value(.grace)
        scratch = scratch ?? Settings.text(.scratch)
        guard grace ?? 0 >= 0 else { throw ValidationError("--grace must not be negative") }
        guard (0.1...5).contains(beat ?? 5) else { throw ValidationError("--beat must be between 0.1 and 5 seconds") }
    }

    func run() async throws {
        log.start()
        let scratch = scratch ?? FileManager.default.temporaryDirectory.path
        let store = try await store.open(redis, scratch: scratch)
        guard FileManager.default.isWritableFile(atPath: scratch) else {
            throw ReelFailure(.folderUnwritable(path: scratch, errno: nil))
        }
        let sourceRoots = try sources.roots()
        var settings = WorkerSettings(slots: slots.count, memoryTotal: slots.memory, scratch: scratch)
        (settings.sourceRoots, settings.quotas) = (sourceRoots, quotas.quotas)
        passQuotas.set(&settings.quotas)
        if let grace { settings.grace = .seconds(grace) }
        if let beat { settings.beat = .seconds(beat) }
        if alone { settings.registering = nil }
        let logger = Logger(label: "reel-worker")
        if let warning = slots.warning { logger.warning("\(warning)") }
        let remote =
            alone ? RemoteAccess.any() : try RemoteAccess.of(sourceHost, scratch: scratch, readsAnyBucket: true)
        let worker = Worker(
            boards: BoardConnections(redis: try redis.address(), namespace: try redis.namespace()), store: store,
            engines: EngineHost(
                executable: try Programs().path("reel-engine"), sandbox: sandbox.mode, sourceRoots: sourceRoots,
                remote: RemoteAccess.including(store, remote, scratch: scratch)),
            settings: settings,
            manager: ProcessInfo.processInfo.environment["NOTIFY_SOCKET"].map(ServiceManager.init(address:)),
            log: logger)
        // The guard of `run` sends these signals when its user presses Ctrl-Z, and when the command goes on.
        let stops = await UnixSignalsSequence(trapping: .sigusr1, .sigusr2)
        let heeding = Task {
            for await signal in stops { signal == .sigusr1 ? Children.own.stop() : Children.own.goOn() }
        }
        defer { heeding.cancel() }
        #if LISTENS
            let service: any Service = listen.map { WatchedWorker(worker: worker, address: $0, log: logger) } ?? worker
        #else
            let service = worker
        #endif
        try await Interruption.shuttingDown(service) { worker.endNow() }
    }

    static func main() async {
        OwnProcess.prepare()
        await console.run(self)
    }
}
