internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelQueue
internal import ReelTerminal

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
