internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "wait", "Wait until jobs have ended.",
        text: """
            Exit code 0 if all are done. The first that failed or was cancelled, or had not ended in time, decides \
            otherwise, after the others have been waited for.
            """, examples: "wait @", "wait 3f2a 81c0 --timeout 3600")

    @Argument(help: JobArguments.help, completion: .jobs) var jobs: [String]
    @Option(help: ArgumentHelp("How long to wait for all of them together.", valueName: "seconds")) var timeout: Int64?
    @OptionGroup var endCommand: EndCommandOption
    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption
    @Flag(help: "Print each job as it ended, as a line of JSON.") var json = false

    func validate() throws {
        try JobArguments.check(jobs)
        guard timeout ?? 0 >= 0 else { throw ValidationError("--timeout must not be negative") }
    }

    func run() async throws {
        let service = try await redis.service(store.openIfNamed(redis, console))
        let clock = ContinuousClock()
        let deadline = timeout.map { clock.now + .seconds($0) }
        var failures = Failures()
        for name in jobs {
            var job: JobID?
            do throws(ReelFailure) {
                let id = try await service.job(named: name)
                job = id
                let rest = deadline.map { Int64(max(0, (($0 - clock.now) / .seconds(1)).rounded(.up))) }
                let notes = Notes()
                let view = try await Interruption.cancelling {
                    try await service.wait(for: id, seconds: rest) { view throws(ReelFailure) in
                        if let reason = view.waitReason { notes.say("job \(id) waits: \(reason)") }
                    }
                }
                console.say("job \(id) is done")
                if json { console.json(view) }
                await endCommand.tell(JobEnd(done: id, source: view.source, output: view.output))
            } catch {
                guard error.kind != .interrupted else { throw error }
                failures.note(error, of: job)
                if let job, let view = try? await service.view(job), view.state.isTerminal {
                    await endCommand.tell(JobEnd(error, of: job, source: view.source, output: view.output))
                }
            }
        }
        try failures.end()
    }
}

struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "fetch", "Deliver the results of finished jobs; the store keeps them as well.",
        examples: "fetch @ --wait", "fetch 3f2a 81c0 -o out/", "fetch 3f2a -o - | ffplay -")

    @Argument(help: JobArguments.help, completion: .jobs) var jobs: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            """
            The file or object (s3://bucket/key) to write, a folder or prefix for it, or - for standard output; of several \
            jobs a folder or prefix. Default: what the submitter asked for.
            """, valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Wait until each job is done.") var wait = false
    @Flag(help: "Replace the output if it exists.") var overwrite = false
    @OptionGroup var store: StoreOption
    @OptionGroup var redis: RedisOption
    @Flag(help: "Print each job as a line of JSON.") var json = false

    func validate() throws {
        try JobArguments.check(jobs)
        guard output != "-" || jobs.count == 1 else { throw ValidationError("-o - takes one job") }
        if output == "-", json { throw ValidationError("-o - writes the result where --json would print") }
    }

    func run() async throws {
        let store = try await store.open(redis)
        let results = JobResults(in: store)
        var failures = Failures()
        for name in jobs {
            var job: JobID?
            do throws(ReelFailure) {
                let id = try await results.job(named: name)
                job = id
                try await fetch(id, of: results, in: store)
            } catch {
                failures.note(error, of: job)
                if error.kind == .interrupted { break }
            }
        }
        try failures.end()
    }

    private func fetch(_ id: JobID, of results: JobResults, in store: any JobStore) async throws(ReelFailure) {
        if wait {
            let service = try await redis.service(store)
            _ = try await Interruption.cancelling { try await service.wait(for: id) }
        }
        if output == "-" {
            return try await Interruption.cancelling { try await results.read(id) { console.print($0) } }
        }
        // A job without a result is reported as that, even if the destination exists.
        _ = try await results.result(of: id)
        // For several jobs it is a folder, even if it does not exist.
        let asked = output.map { jobs.count > 1 && !$0.hasSuffix("/") ? $0 + "/" : $0 }
        let destination = Destination(
            try await results.path(of: id, asked: asked), overwrite: overwrite, remote: RemoteAccess.outputs())
        try await destination.check()
        try await Interruption.cancelling { try await results.deliver(id, to: destination) }
        console.say("wrote \(destination.path)")
        if json, let view = try await results.view(id) { console.json(view.delivered(to: destination.path)) }
    }
}

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.ofBoard(
        "verify", "Compare the result of a finished job with the size and hash recorded of it.",
        text: "Exit code 0 if they match, 1 if not.", examples: "verify 3f2a", "verify @ --file /backup/clip.mp4")

    @Argument(help: "The job's id, or its beginning; @ for the job that was submitted last.", completion: .jobs)
    var job: String

    @Option(
        help: ArgumentHelp(
            "A copy of the result, a file or s3://bucket/key, to check instead of the one in the store.",
            valueName: "file"),
        completion: .file())
    var file: String?

    @OptionGroup var store: StoreOption
    @Flag(help: "Print the job as a line of JSON.") var json = false

    func validate() throws { try JobArguments.check([job]) }

    func run() async throws {
        let (results, file) = (JobResults(in: try await store.open(RedisOption(url: nil))), file)
        let id = try await results.job(named: job)
        try await console.reporting(of: id) {
            let found = try await Interruption.cancelling {
                try await results.verify(id, copy: file, remote: RemoteAccess.outputs())
            }
            console.say("\(found.path) is the verified result: \(found.bytes) bytes, SHA-256 \(found.sha256)")
            if json, let view = try await results.view(id) { console.json(view.delivered(to: found.path)) }
        }
    }
}
