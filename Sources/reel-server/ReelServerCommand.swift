internal import ArgumentParser
internal import Foundation
internal import Logging
internal import ReelCore
internal import ReelEngine
internal import ReelHost
internal import ReelJobs
internal import ReelQueue
internal import ReelRemote
internal import ReelServer
internal import ReelStore
internal import ReelTerminal
internal import ReelWords

/// Messages to the user; the log is separate.
let console = Console(name: "reel-server") { reason in
    switch reason {
    case .secretFileUnusable(let path, ENOENT): "reel-server token NAME --role admin --tokens \(path) makes it"
    case .redisUnusable: "start redis-server there, or name another with --redis or REEL_REDIS"
    default: Console.usualAdvice(for: reason)
    }
}

@main
struct ReelServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reel-server", abstract: "Serves jobs over HTTP, to programs and to people.",
        version: Release.version, subcommands: [ServeCommand.self, TokenCommand.self],
        defaultSubcommand: ServeCommand.self)

    static func main() async {
        OwnProcess.prepare()
        await console.run(self)
    }
}

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Make a token, and print it once.",
        discussion: HelpText.text(
            """
            The file keeps a salted hash of the token. A server that runs takes it from the next second on. To take a token \
            back, remove its line.
            """,
            HelpText.examples("reel-server token phone-app --role operator --tokens /etc/reel/tokens")))

    @Argument(help: "Who it is for; the audit log calls its bearer so.") var name: String

    @Option(
        help: ArgumentHelp(
            "What its bearer may do: viewer, operator (also submits, changes and downloads) or admin (also removes and drains).",
            valueName: "role"))
    var role: Role

    @Option(
        help: ArgumentHelp("The file to add it to; it is made if it is missing.", valueName: "file"),
        completion: .file())
    var tokens: String

    func validate() throws {
        guard Submission.isText(name) else {
            throw ValidationError("NAME has 1 to 100 characters without line breaks or tabs")
        }
    }

    func run() async throws { console.result(try TokenFile(path: tokens).add(name, role)) }
}

extension Role: ExpressibleByArgument {}

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve until SIGTERM; this is what reel-server does by itself.",
        discussion: HelpText.text(
            """
            The API is at /api/v1, described by /api/v1/openapi.json, and the pages are at /. Without --tokens every \
            caller may do everything, so the server listens on loopback addresses alone.
            """,
            HelpText.examples(
                "reel-server --store /mnt/reel --sources /mnt/footage",
                "reel-server --listen 0.0.0.0:8080 --tokens /etc/reel/tokens --store /mnt/reel"),
            HelpText.environment([.redis, .redisFile, .namespace, .store, .sandbox, .sourceHosts, .configuration]),
            HelpText.exitCodes))

    @Option(
        help: ArgumentHelp("The address and the port to listen at.", valueName: "host:port"), transform: Address.read)
    var listen = Address(host: "127.0.0.1", port: 8080)

    @Option(
        help: ArgumentHelp(
            "The file of the tokens that callers must show; reel-server token adds one.", valueName: "file"),
        completion: .file())
    var tokens: String?

    @Flag(help: "Listen at an address that others reach, although there are no tokens: they may do everything.")
    var insecure = false

    @Flag(help: "Change nothing: jobs and workers can be looked at only.") var readOnly = false

    @Option(
        help: ArgumentHelp("The start of all paths, as a proxy passes them on, for example /reel.", valueName: "path"),
        transform: BasePath.read)
    var basePath = BasePath(text: "")

    @Option(
        name: .customLong("sources"),
        help: ArgumentHelp(
            "Let jobs be made of files in this folder; links may not lead out of it. May be repeated.",
            valueName: "dir"), completion: .directory)
    var sources: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Let jobs be made of files on this web server, as media.example.org, in a network, as 10.0.0.0/8, or in this \
            bucket, as s3://footage. May be repeated; REEL_SOURCE_HOSTS sets the default. Workers need the same.
            """, valueName: "host"))
    var sourceHost: [String] = []

    @Option(
        help: ArgumentHelp("The most bytes of all uploads together. Default: 100GiB.", valueName: "size"),
        transform: ByteSize.read)
    var uploadQuota = ByteSize(bytes: 100 << 30)

    @Option(
        help: ArgumentHelp(
            "How long an upload is kept after its last change, as 24h or 90m. Default: 1d.", valueName: "time"),
        transform: TimeSpan.read)
    var uploadExpiry = TimeSpan.day

    @Option(
        help: ArgumentHelp(
            "The most jobs of a token that have not ended. Callers without tokens count as one.", valueName: "n"))
    var jobsPerToken: Int?

    @Option(
        help: ArgumentHelp(
            "The most bytes of a token's uploads and results in the store, as 500GiB.", valueName: "size"),
        transform: ByteSize.read)
    var bytesPerToken: ByteSize?

    @Option(
        help: ArgumentHelp(
            "Take webhooks and send them, signed with the secret in this file, of 16 bytes at least.",
            valueName: "file"), completion: .file())
    var webhookSecret: String?

    @Option(
        help: ArgumentHelp(
            """
            Send webhooks to this host, address or network, too, although it is not public, as hooks.internal or \
            10.0.0.0/8. May be repeated.
            """, valueName: "receiver"), transform: AllowedHost.read)
    var webhookAllow: [AllowedHost] = []

    @Option(
        help: ArgumentHelp(
            "Let pages of this site use the API from browsers, as https://app.example. May be repeated.",
            valueName: "origin"))
    var allowOrigin: [String] = []

    @Flag(
        help: ArgumentHelp(
            "End with standard input, which the program that started it holds open.", visibility: .hidden))
    var alone = false

    @OptionGroup var log: LogOptions
    @OptionGroup var sandbox: SandboxOption
    @OptionGroup var quotas: QuotaOptions
    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

    func validate() throws {
        guard jobsPerToken ?? 1 > 0, bytesPerToken?.bytes ?? 1 > 0 else {
            throw ValidationError("--jobs-per-token and --bytes-per-token must be above 0")
        }
        guard tokens != nil || insecure || listen.isLoopback else {
            throw ValidationError(
                "without --tokens the server listens on loopback addresses alone, and \(listen.host) is not one: "
                    + "give --tokens, or --insecure to let every caller do everything")
        }
        if let other = allowOrigin.first(where: { !ServerSettings.isOrigin($0) }) {
            throw ValidationError("--allow-origin takes a site as browsers write it, https://app.example, not \(other)")
        }
        guard allowOrigin.isEmpty || tokens != nil else {
            throw ValidationError(
                "--allow-origin needs --tokens: without tokens any page of that site could do everything")
        }
        guard webhookSecret != nil || webhookAllow.isEmpty else {
            throw ValidationError("--webhook-allow needs --webhook-secret: without it no webhooks are sent")
        }
    }

    func run() async throws {
        log.start()
        if alone { ServeCommand.endWithInput() }
        let logger = Logger(label: "reel-server")
        let (address, namespace, process) = (
            try redis.address(), try redis.namespace(), ProcessInfo.processInfo.processIdentifier
        )
        let roots = try SourceRootOption.roots(of: sources)
        let store = try await store.open(redis)
        if let webhookSecret, !FileManager.default.fileExists(atPath: webhookSecret) {
            throw ValidationError(
                "--webhook-secret: there is no \(webhookSecret); "
                    + "make it: (umask 077; openssl rand -hex 32 >\(webhookSecret))")
        }
        let webhooks = try webhookSecret.map {
            WebhookPolicy(secret: try WebhookSecret.read($0), allowed: webhookAllow)
        }
        let jobs = JobService(store: store) {
            RedisBoard(address, name: "reel-server-\(process)", namespace: namespace)
        }
        try await jobs.reach()
        for diagnostic in try await jobs.diagnostics() { console.warn(diagnostic) }
        try await jobs.joinUnlessFull(logger)
        // Fails if the server's user of Redis may not read events: pages would not learn of changes.
        _ = try await jobs.events(after: jobs.now()).wait(atMost: .milliseconds(1))
        var settings = ServerSettings(host: listen.host, port: listen.port)
        settings.basePath = basePath.text
        (settings.tokens, settings.isInsecure, settings.isReadOnly) = (tokens.map(TokenFile.init), insecure, readOnly)
        (settings.sources, settings.quotas, settings.webhooks) = (roots, quotas.quotas, webhooks)
        settings.remote = try RemoteAccess.of(
            sourceHost, scratch: FileManager.default.temporaryDirectory.path, readsAnyBucket: false)
        (settings.uploadQuota, settings.uploadExpiry) = (uploadQuota.bytes, Double(uploadExpiry.seconds))
        settings.origins = Set(allowOrigin)
        (settings.jobsPerToken, settings.bytesPerToken) = (jobsPerToken, bytesPerToken?.bytes)
        let uploads = try Self.uploads(of: store)
        let engine = EngineHost(
            executable: try Programs().path("reel-engine"), sandbox: sandbox.mode,
            sourceRoots: SourceRoots(
                (roots?.folders ?? []) + [URL(fileURLWithPath: uploads.folder).standardizedFileURL.path]),
            remote: RemoteAccess.including(
                store, settings.remote, scratch: FileManager.default.temporaryDirectory.path))
        let (place, path) = (listen, basePath.text)
        // Joining makes a store of an empty folder; only a store that is opened after that knows its id.
        let joined = try await self.store.open(redis)
        let server = Server(
            settings, jobs: jobs, store: joined, uploads: uploads, engine: engine, log: logger
        ) { port in
            logger.info("listening at \(place.url(port: port))\(path)/")
        }
        try await Interruption.shuttingDown(server) { Foundation.exit(130) }
    }

    /// Ends this process in order when its standard input ends.
    private static func endWithInput() {
        Thread.detachNewThread {
            while readLine() != nil {}
            kill(getpid(), SIGTERM)
        }
    }

    /// The uploads of a store. Those of a store in a bucket lie on this machine until jobs take them.
    private static func uploads(of store: any JobStore) throws(ReelFailure) -> Uploads {
        if let store = store as? FolderStore { return store.uploads }
        // systemd makes this folder, and keeps it.
        let folder =
            ProcessInfo.processInfo.environment["STATE_DIRECTORY"] ?? FileManager.default.temporaryDirectory.path
        return try FolderStore.make(root: folder + "/reel-uploads", mode: 0o700).uploads
    }
}

extension JobService {
    /// Joins board and store. If Redis is full, it logs that and goes on: jobs can still be shown, results delivered,
    /// and jobs removed to make room.
    fileprivate func joinUnlessFull(_ log: Logger) async throws(ReelFailure) {
        do { try await join() } catch {
            guard case .redisRefused(_, let said, _) = error.reason, said.hasPrefix("OOM") else { throw error }
            log.error("\(error.words); only what writes nothing to it works")
        }
    }
}

/// The start of all paths.
struct BasePath: ExplainedArgument {
    static let forms = "a path with a slash at its start and none at its end (/reel)"
    /// Empty for none.
    let text: String

    init(text: String) { self.text = text }

    init?(_ text: String) {
        guard text.wholeMatch(of: /(\/[A-Za-z0-9._~-]+)*\/?/) != nil else { return nil }
        self.init(text: text.hasSuffix("/") ? String(text.dropLast()) : text)
    }
}
