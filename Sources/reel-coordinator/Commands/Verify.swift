internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

/// Whether a result is still what was verified when it was made.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Compare the result of a finished job with the size and hash recorded of it.",
        discussion: "Exits with 0 where they are the same, with 1 where they differ.")

    @Argument(help: "The job's id.")
    var job: String

    @Option(
        help: ArgumentHelp("A copy of the result to look at, instead of the one in the store.", valueName: "file"))
    var file: String?

    @OptionGroup var store: StoreOption

    @Flag(help: "Print the job as a line of JSON.")
    var json = false

    func run() async throws {
        let folder = try store.open().job(JobID(job))
        guard folder.exists else { throw JobControl.unknown(JobID(job)) }
        let file = file
        let (path, found) = try await Interruption.cancelling {
            let result = try folder.storedResult()
            guard let file else { return (result.path, try result.verify()) }
            return (file, try result.verify(copy: file))
        }
        console.say("\(path) is the verified result: \(found.bytes) bytes, SHA-256 \(found.sha256)")
        if json, let view = try JobView(folder) { console.json(view.delivered(to: path)) }
    }
}
