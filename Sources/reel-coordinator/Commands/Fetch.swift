internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

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
        let destination = Destination(choice.path, overwrite: overwrite)
        try destination.check(source: nil)
        let (results, id) = (JobResults(in: try store.open()), JobID(job))
        try await Interruption.cancelling { try await results.deliver(id, to: destination) }
        console.say("wrote \(destination.path)")
        if json, let view = try await results.view(id) { console.json(view.delivered(to: destination.path)) }
    }
}
