internal import ArgumentParser
internal import ReelCore
internal import ReelEngine
internal import ReelHost
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Show a video's properties, the planned output and its cost.",
        discussion: HelpText.text(
            HelpText.examples(
                "reel-coordinator plan clip.mp4", "reel-coordinator plan cut.otio",
                "reel-coordinator plan cut.json --otio cut.otio"),
            HelpText.encoders, HelpText.containers, HelpText.environment([.sandbox, .configuration, .temporary]),
            HelpText.exitCodes))

    @Argument(
        help: "The video to plan for; with --stitch several; or the file of an edit (.json) or timeline (.otio).",
        completion: .file())
    var sources: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file that would be written; its extension chooses the container.", valueName: "file"),
        completion: .file()) var output: String?

    @Option(help: .of(.container)) var container: Container?

    @Option(
        help: ArgumentHelp(
            "Also write the clips as a timeline of OpenTimelineIO, for an editing program.", valueName: "file"),
        completion: .file(extensions: ["otio"]))
    var otio: String?

    @Flag(help: "Replace the timeline's file if it exists.") var overwrite = false
    @OptionGroup var spec: SpecOptions
    @OptionGroup var sandbox: SandboxOption
    @OptionGroup var quotas: QuotaOptions
    @Flag(help: "Print a line of JSON.") var json = false

    func validate() throws {
        guard let otio else {
            if overwrite { throw ValidationError("--overwrite needs --otio") }
            return
        }
        guard SubmittedEdit.isTimeline(otio) else { throw ValidationError("\(otio) must end in .otio") }
        let request = spec.request
        let plain = [("--audio keep", request.audio == .keep), ("--timestamps source", request.timestamps == .source)]
        if let (option, _) = plain.first(where: \.1) { throw ValidationError("a timeline cannot say \(option)") }
    }

    func run() async throws {
        // Not in `validate`: the parser takes the value of an unknown option for another video.
        guard sources.count == 1 || spec.request.stitch else {
            throw ValidationError("plan takes one video; --stitch makes one output of several")
        }
        let drafts = try spec.drafts(of: sources) { throw $0 }
        guard drafts.count == 1 else {
            throw ValidationError("plan takes one video, and \(sources[0]) has \(drafts.count); name one of them")
        }
        let draft = drafts[0]
        let timeline = otio.map { Destination($0, overwrite: overwrite) }
        if let timeline { try draft.check(timeline) }
        let choice = try draft.output(output, container: container)
        let engine = EngineHost(executable: try Programs().path("reel-engine"), sandbox: sandbox.mode)
        let job = try JobRecord(submitting: draft.sources, spec: draft.spec(in: choice.container))
        let quotas = quotas.quotas
        let prepared = try await Interruption.cancelling {
            let reading = ReadingDisplay(on: console)
            defer { reading.clear() }
            return try await JobService.prepare(job, engine: engine, quotas: quotas, reading: reading.heard)
        }
        try timeline.map(prepared.writeTimeline)
        var view = prepared.view
        view.add(draft.diagnostics)
        if json { console.json(view) } else { show(view) }
        if let timeline { console.say("wrote \(timeline.path)") }
    }

    private func show(_ view: PlanView) {
        for line in PlanText.lines(view) { console.result(line) }
        for warning in view.warnings { console.say("warning: \(warning)") }
    }
}
