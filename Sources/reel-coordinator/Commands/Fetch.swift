internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch", abstract: "Deliver the results of finished jobs; the store keeps them as well.",
        discussion: HelpText.text(
            HelpText.examples(
                "reel-coordinator fetch @ --wait", "reel-coordinator fetch 3f2a 81c0 -o out/",
                "reel-coordinator fetch 3f2a -o - | ffplay -"),
            HelpText.ofBoard))

    @Argument(help: JobArguments.help, completion: .jobs)
    var jobs: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            """
            The file to write, a folder for it, or - for standard output; of several jobs a folder. Default: what the \
            submitter asked for.
            """, valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Wait until each job is done.")
    var wait = false

    @Flag(help: "Replace the output if it exists.")
    var overwrite = false

    @OptionGroup var store: StoreOption
    @OptionGroup var redis: RedisOption

    @Flag(help: "Print each job as a line of JSON.")
    var json = false

    func validate() throws {
        try JobArguments.check(jobs)
        guard output != "-" || jobs.count == 1 else { throw ValidationError("-o - takes one job") }
        if output == "-", json { throw ValidationError("-o - writes the result where --json would print") }
    }

    func run() async throws {
        let store = try store.open()
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
        // Of several, it is a folder, also if there is none.
        let asked = output.map { jobs.count > 1 && !$0.hasSuffix("/") ? $0 + "/" : $0 }
        let destination = Destination(try await results.path(of: id, asked: asked), overwrite: overwrite)
        try destination.check(source: nil)
        try await Interruption.cancelling { try await results.deliver(id, to: destination) }
        console.say("wrote \(destination.path)")
        if json, let view = try await results.view(id) { console.json(view.delivered(to: destination.path)) }
    }
}
