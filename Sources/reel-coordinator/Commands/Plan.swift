internal import ArgumentParser
internal import ReelEngine
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Show a video's properties, the planned output and its cost.")

    @Argument(help: "The video to plan for; with --stitch several; or the JSON file of an edit.")
    var sources: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file that would be written; its extension chooses the container.", valueName: "file"))
    var output: String?

    @OptionGroup var spec: SpecOptions

    @Flag(help: "Print a line of JSON.")
    var json = false

    func run() async throws {
        // Not in `validate`: of an unknown option with a value, the parser takes the value for another video.
        guard sources.count == 1 || spec.stitch else {
            throw ValidationError("plan takes one video; --stitch makes one output of several")
        }
        let order = try spec.orders(sources)[0]
        let choice = try OutputChoice(
            output, for: order.named, like: order.sources[0], deed: order.deed, lossless: spec.lossless)
        let engine = EngineHost(executable: try Programs().path("reel-engine"))
        let job = try JobRecord(submitting: order.sources, spec: spec.spec(order, choice.container))
        let view = try await Interruption.cancelling {
            let reading = ReadingDisplay(on: console)
            defer { reading.clear() }
            return try await JobService.prepare(job, engine: engine, reading: reading.heard)
        }
        if json { console.json(view) } else { show(view) }
    }

    private func show(_ view: PlanView) {
        for line in PlanText.lines(view) { console.result(line) }
        for warning in view.warnings { console.say("warning: \(warning)") }
    }
}
