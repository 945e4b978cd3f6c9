internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Compare the result of a finished job with the size and hash recorded of it.",
        discussion: HelpText.text(
            "Exit code 0 if they match, 1 if not.",
            HelpText.examples(
                "reel-coordinator verify 3f2a",
                "reel-coordinator verify @ --file /backup/clip.mp4"),
            HelpText.ofBoard))

    @Argument(help: "The job's id, or its beginning; @ for the job that was submitted last.", completion: .jobs)
    var job: String

    @Option(
        help: ArgumentHelp("A copy of the result to check instead of the one in the store.", valueName: "file"),
        completion: .file())
    var file: String?

    @OptionGroup var store: StoreOption

    @Flag(help: "Print the job as a line of JSON.")
    var json = false

    func validate() throws { try JobArguments.check([job]) }

    func run() async throws {
        let (results, file) = (JobResults(in: try store.open()), file)
        let id = try await results.job(named: job)
        try await console.reporting(of: id) {
            let found = try await Interruption.cancelling { try await results.verify(id, copy: file) }
            console.say("\(found.path) is the verified result: \(found.bytes) bytes, SHA-256 \(found.sha256)")
            if json, let view = try await results.view(id) { console.json(view.delivered(to: found.path)) }
        }
    }
}
