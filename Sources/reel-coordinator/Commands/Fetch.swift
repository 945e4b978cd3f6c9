internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

/// Delivers what the store has.
struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch", abstract: "Deliver the result of a finished job; the store keeps it as well.")

    @Argument(help: "The job's id.")
    var job: String

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"))
    var output: String

    @Flag(help: "Replace the output if it exists.")
    var overwrite = false

    @OptionGroup var store: StoreOption

    @Flag(help: "Print the job as a line of JSON.")
    var json = false

    func run() async throws {
        let choice = try OutputChoice(named: output, lossless: false)
        let deliver = Deliver(to: choice.path, overwrite: overwrite)
        try deliver.check(source: nil)
        let folder = try store.open().job(JobID(job))
        guard folder.exists else { throw JobControl.unknown(JobID(job)) }
        try await Interruption.cancelling { try deliver.copy(folder) }
        console.say("wrote \(deliver.output)")
        if json, let view = try JobView(folder) { console.json(view.delivered(to: deliver.output)) }
    }
}
