internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelTerminal
internal import ReelWords

struct WorkersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "workers", "Show the workers: host, slots, what each does, last beat.",
        examples: "workers --watch", "workers --check")

    @Flag(help: "End with exit code 4 if no worker takes work, after showing them.") var check = false
    @OptionGroup var redis: RedisOption
    @OptionGroup var reading: ReadingOptions

    func validate() throws {
        guard !check || !reading.watch else { throw ValidationError("--check looks once; leave out --watch") }
    }

    func run() async throws {
        try await reading.show(redis) { service throws(ReelFailure) in
            let views = try await service.workers()
            let drained = try await service.drainedHosts()
            return Snapshot(json: views) { WorkerText.lines(views, drainedHosts: drained, on: $1) }
        }
        if check { try await redis.service().checkWorkers() }
    }
}

struct DrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "drain", "Give hosts or workers nothing more: they finish what they hold, and wait.",
        text: """
            A host stays drained until undrain, also when its workers end and start again; a worker until it ends, since \
            its id changes with each start. reel-coordinator workers shows what is drained.
            """, examples: "drain node-3")

    @OptionGroup var arguments: WorkerArguments

    func run() async throws {
        try await arguments.each { service, name throws(ReelFailure) in
            let outcome = try await service.drain(name)
            let words =
                switch outcome {
                case .drained(let host, .host, let workers):
                    "host \(host) is drained: its workers (\(workers)) finish what they hold, and claim nothing more until undrain"
                case .drained(let worker, .worker, _):
                    "worker \(worker) is drained: it finishes what it holds, and claims nothing more until it ends or undrain"
                case .gone(let worker): "worker \(worker) is gone: there is nothing to drain"
                }
            return (words, WorkerChangeView(outcome))
        }
    }
}

struct UndrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "undrain", "Let drained hosts or workers claim again.", examples: "undrain node-3")

    @OptionGroup var arguments: WorkerArguments

    func run() async throws {
        try await arguments.each { service, name throws(ReelFailure) in
            let outcome = try await service.undrain(name)
            let words =
                switch outcome {
                case .undrained(let host, .host, let left) where !left.isEmpty:
                    "host \(host) is drained no more; still drained: \(left.map(\.text).joined(separator: ", "))"
                case .undrained(let host, .host, _): "the workers of host \(host) claim again"
                case .undrained(let worker, .worker, _): "worker \(worker) claims again"
                case .hostIsDrained(let worker, let host):
                    "worker \(worker) claims nothing, since host \(host) is drained: reel-coordinator undrain \(host)"
                case .wasNotDrained(let name): "\(name) was not drained"
                }
            return (words, WorkerChangeView(outcome))
        }
    }
}

struct WorkerArguments: ParsableArguments {
    @Argument(help: "Names of hosts, or ids of workers.", completion: .workers) var names: [String]
    @OptionGroup var redis: RedisOption
    @Flag(help: "Print each host or worker with what became of it, as a line of JSON.") var json = false

    /// Changes each, and prints the outcome. Reports each failure, and throws the first after all were tried.
    ///
    /// - Parameter change: returns the outcome in words and for JSON.
    func each(
        _ change: (JobService, String) async throws(ReelFailure) -> (words: String, view: WorkerChangeView)
    ) async throws {
        let service = try await redis.service()
        var failures = Failures()
        for name in names {
            do throws(ReelFailure) {
                let (words, view) = try await change(service, name)
                console.say(words)
                if json { console.json(view) }
            } catch {
                failures.note(error)
            }
        }
        try failures.end()
    }
}

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "init", "Make a store that workers and coordinators share, and prepare the board; prints the store's id.",
        text: """
            Prepares the store of --store, the board of --redis, or both. Without options, REEL_STORE and REEL_REDIS or \
            REEL_REDIS_FILE apply. A new folder is accessible to its owner and its group only (mode 2770); an existing one \
            keeps its mode, and a store is not changed. Preparing the board loads reel's functions into Redis, unless it \
            has newer ones. Other programs load them by themselves if their user may.
            """, examples: "init --store /mnt/reel --redis redis://10.0.0.5:6379")

    @OptionGroup var store: StoreOption
    @Option(help: ArgumentHelp("Redis; REEL_REDIS names another default.", valueName: "url")) var redis: String?
    @Flag(help: "Print the store and the board, each as a line of JSON.") var json = false

    func run() async throws {
        let isChosen = store.isGiven || redis != nil
        let address = try redis ?? (isChosen ? nil : RedisOption.urlOfEnvironment())
        let makesStore = store.isGiven || !isChosen && store.isNamed
        guard makesStore || address != nil else {
            throw ValidationError(
                "--store or REEL_STORE names a store, --redis or REEL_REDIS a board: at least one is needed")
        }
        if makesStore { try await makeStore(RedisOption(url: address)) }
        if let address { try await prepareBoard(address) }
    }

    private func makeStore(_ redis: RedisOption) async throws {
        let (name, id) = try await store.make(redis)
        console.say("\(name) is a store")
        if json { console.json(StoreView(store: name, id: id.text)) } else { console.result(id.text) }
    }

    private func prepareBoard(_ address: String) async throws {
        let option = RedisOption(url: address)
        let isNew = try await option.service(warnings: true).prepareBoard()
        let named = "\(try option.address())"
        console.say("Redis at \(named) \(isNew ? "has got" : "has") the board's functions")
        if json { console.json(BoardView(redis: named, outcome: isNew ? "loaded" : "present")) }
    }
}

struct RecoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "recover", "Put the store's unfinished jobs back on a board that has lost them.",
        text: "Finished passes are kept. You can repeat it at any time.", examples: "recover")

    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption
    @Flag(help: "Print each job with what became of it, as a line of JSON.") var json = false

    func run() async throws {
        let service = try await redis.service(joining: store.open(redis), warnings: true)
        let audit = try await service.audit()
        if audit.repairs > 0 { console.say("\(audit.repairs) repairs in \(audit.jobs) jobs of the board") }
        let outcomes = try await service.recover()
        var lost: [JobID] = []
        for (job, outcome) in outcomes {
            switch outcome {
            case .recovered(let passes):
                console.say("job \(job) goes on; passes that were finished: \(passes)")
                if json {
                    console.json(JobChangeView(onBoard: job, passesDone: passes))
                } else {
                    console.result(job.text)
                }
            case .known:
                console.say("job \(job) is on the board")
                if json { console.json(JobChangeView(onBoard: job, passesDone: nil)) }
            case .lost(let why):
                console.say("job \(job) cannot be recovered: \(why.words); submit it again")
                lost.append(job)
            }
        }
        if outcomes.isEmpty { console.say("the store has no unfinished job") }
        guard lost.isEmpty else { throw ReelFailure(.jobsNotRecovered(jobs: lost)) }
    }
}

/// A host or worker that was drained, or whose drain was taken back.
struct WorkerChangeView: Encodable {
    var name: String
    /// "host" or "worker"; missing if the name is of neither.
    var scope: String?
    var outcome: String
    var workers: Int?
    var host: String?

    init(_ change: JobService.DrainOutcome) {
        switch change {
        case .drained(let name, let scope, let count):
            (self.name, self.scope, outcome, workers) = (name, scope.rawValue, "drained", count)
        case .gone(let worker): (name, scope, outcome) = (worker.text, DrainScope.worker.rawValue, "gone")
        }
    }

    init(_ change: JobService.UndrainOutcome) {
        switch change {
        case .undrained(let name, let scope, _): (self.name, self.scope, outcome) = (name, scope.rawValue, "undrained")
        case .hostIsDrained(let worker, let host):
            (name, scope, outcome) = (worker.text, DrainScope.worker.rawValue, "host-drained")
            self.host = host
        case .wasNotDrained(let name): (self.name, outcome) = (name, "not-drained")
        }
    }
}

struct StoreView: Encodable {
    var store: String
    var id: String
}

/// A board whose Redis has reel's functions.
struct BoardView: Encodable {
    var redis: String
    /// "loaded", or "present" if Redis had them.
    var outcome: String
}
