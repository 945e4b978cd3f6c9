internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch", abstract: "Deliver the result of a finished job; the store keeps it as well.",
        discussion: HelpText.text(
            HelpText.examples(
                "reel-coordinator fetch @ --wait", "reel-coordinator fetch 3f2a -o out/",
                "reel-coordinator fetch 3f2a -o - | ffplay -"),
            HelpText.ofBoard))

    @Argument(help: "The job's id, or its beginning; @ for the job that was submitted last.", completion: .jobs)
    var job: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write, a folder for it, or - for standard output. Default: what the submitter asked for.",
            valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Wait until the job is done.")
    var wait = false

    @Flag(help: "Replace the output if it exists.")
    var overwrite = false

    @OptionGroup var store: StoreOption
    @OptionGroup var redis: RedisOption

    @Flag(help: "Print the job as a line of JSON.")
    var json = false

    func validate() throws {
        try JobArguments.check([job])
        if output == "-", json { throw ValidationError("-o - writes the result where --json would print") }
    }

    func run() async throws {
        let store = try store.open()
        let results = JobResults(in: store)
        let id = try await results.job(named: job)
        try await console.reporting(of: id) { try await fetch(id, of: results, in: store) }
    }

    private func fetch(_ id: JobID, of results: JobResults, in store: any JobStore) async throws {
        if wait {
            let service = try await redis.service(store)
            _ = try await Interruption.cancelling { try await service.wait(for: id) }
        }
        if output == "-" {
            return try await Interruption.cancelling { try await results.read(id) { console.print($0) } }
        }
        // Of a job that has no result, that is what to say, whatever is at the destination.
        _ = try await results.result(of: id)
        let destination = Destination(try await results.path(of: id, asked: output), overwrite: overwrite)
        try destination.check(source: nil)
        try await Interruption.cancelling { try await results.deliver(id, to: destination) }
        console.say("wrote \(destination.path)")
        if json, let view = try await results.view(id) { console.json(view.delivered(to: destination.path)) }
    }
}
