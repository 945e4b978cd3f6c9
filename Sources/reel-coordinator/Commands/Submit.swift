internal import ArgumentParser
internal import ReelCore
internal import ReelEngine
internal import ReelHost
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

struct SubmitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit", abstract: "Submit videos to the workers; prints one job id per line.",
        discussion: HelpText.text(
            """
            Submitting the same again attaches to the running job, or resumes the interrupted one. If a video is refused, \
            the others are still submitted and delivered. The workers read the sources of several videos, so what is \
            wrong inside one fails its job. With --json, id and state of each job come as soon as it has its id, and with \
            --wait the job as it ended.
            """,
            HelpText.examples(
                "reel-coordinator submit clip.mp4",
                "reel-coordinator submit *.mp4 --container mkv --wait",
                "find /srv/clips -name '*.mov' | reel-coordinator submit --from-file -",
                "reel-coordinator submit clip.mp4 -o /srv/out/clip.mp4 --weight 3",
                #"reel-coordinator submit clip.mp4 --name "Trailer, take 3" --label project=trailer"#),
            HelpText.encoders, HelpText.containers,
            HelpText.environment(
                [.redis, .redisFile, .namespace, .store, .sandbox, .sourceRoots, .configuration]
                    + HelpText.Variable.ofNetwork),
            HelpText.exitCodes))

    @Argument(
        help:
            "The videos to reverse, or files of edits (.json) and timelines (.otio); with --stitch, one output of all.",
        completion: .file())
    var sources: [String] = []

    @OptionGroup var list: NameList
    @Flag(help: "Follow the jobs and deliver their results; Ctrl-C then leaves them to the workers.") var wait = false
    @OptionGroup var output: OutputOptions
    @OptionGroup var spec: SpecOptions
    @OptionGroup(title: HelpText.Section.work.rawValue) var sandbox: SandboxOption
    @OptionGroup(title: HelpText.Section.farm.rawValue) var quotas: QuotaOptions
    @OptionGroup(title: HelpText.Section.farm.rawValue) var sourceRoot: SourceRootOption
    @OptionGroup(title: HelpText.Section.farm.rawValue) var terms: TermsOptions
    @OptionGroup(title: HelpText.Section.farm.rawValue) var submission: SubmissionOptions
    @OptionGroup(title: HelpText.Section.farm.rawValue) var endCommand: EndCommandOption
    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption
    @Flag(help: "Start over, even if an earlier submission of the same job could be resumed.") var force = false
    @OptionGroup var lines: JSONLines

    func validate() throws {
        guard !sources.isEmpty || list.file != nil else {
            throw ValidationError("name the videos to reverse, or a list of them with --from-file")
        }
        guard wait || !lines.progress else { throw ValidationError("--progress needs --wait") }
        guard wait || !output.overwrite else { throw ValidationError("--overwrite needs --wait") }
        guard wait || endCommand.onDone == nil else { throw ValidationError("--on-done needs --wait") }
    }

    func run() async throws {
        let (roots, submission) = (try sourceRoot.roots(), submission.submission)
        let stages = terms.stage || store.isInBucket
        let notes = Notes()
        // Not in `validate`: the parser takes the value of an unknown option for another video.
        let (started, wanted) = try await output.batch(of: sources + list.names(), spec, checks: wait, lines) {
            (draft, choice) async throws(ReelFailure) in
            if self.terms.stage, let url = draft.sources.first(where: WebAddress.isWritten) {
                throw ReelFailure(.stagedURL(url: WebAddress.shown(url)))
            }
            if stages, !self.terms.stage, draft.sources.contains(where: { !WebAddress.isWritten($0) }) {
                notes.say("copies the sources into the store, since its machines share no folder")
            }
            var terms = terms.terms
            terms.output = choice.path
            return try JobRecord(
                submitting: draft.sources, spec: draft.spec(in: choice.container), terms: terms,
                submission: submission, within: roots, stages: stages,
                web: await RemoteAccess.any()?.fingerprints(of: draft.sources) ?? [:])
        }
        var batch = started
        guard !wanted.isEmpty else { return try batch.end() }
        let service = try await redis.service(joining: store.open(redis), warnings: true)
        // What one video is refused for is told at once. Several are read by the workers, unless this command has quotas
        // of its own: only a plan can tell whether they are kept.
        let areRead = wanted.count == 1 || !quotas.quotas.isEmpty
        let submitted =
            if areRead { try await plan(wanted, for: service, in: &batch) } else {
                try await post(wanted, to: service, in: &batch)
            }
        for (job, item) in wait ? submitted : [] {
            try await batch.attempt(item) { () async throws(ReelFailure) in
                let view = try await telling(item) { () async throws(ReelFailure) in
                    try await follow(job, item, service)
                }
                let (source, output) = (item.job.source.path, item.destination.path)
                await endCommand.tell(JobEnd(done: job.id, source: source, output: output))
                console.say(view.wrote(item.destination.path, item.job))
                lines.ended(view)
            }
        }
        try batch.end()
    }

    private typealias Submitted = (job: SubmittedJob, item: BatchItem)

    /// Reads the sources and plans the jobs, one after the other, and has workers do the passes.
    private func plan(
        _ items: [BatchItem], for service: JobService, in batch: inout VideoBatch
    ) async throws -> [Submitted] {
        let engine = EngineHost(
            executable: try Programs().path("reel-engine"), sandbox: sandbox.mode,
            sourceRoots: try sourceRoot.roots(), remote: RemoteAccess.any())
        var submitted: [Submitted] = []
        for item in items {
            try await batch.attempt(item) { () async throws(ReelFailure) in
                let job = try await telling(item) { () async throws(ReelFailure) in
                    try await submit(item, to: service, engine)
                }
                submitted.append((job, item))
            }
        }
        return submitted
    }

    /// Has workers do the jobs, and plan them, too.
    private func post(
        _ items: [BatchItem], to service: JobService, in batch: inout VideoBatch
    ) async throws -> [Submitted] {
        let (outcomes, outcome) = AsyncStream.makeStream(of: (Int, Result<PostedJob, ReelFailure>).self)
        let (jobs, anew) = (items.map(\.job), force)
        async let posting: Void = SubmitCommand.post(jobs, to: service, anew: anew, outcome)
        var submitted: [Submitted] = []
        for await (place, outcome) in outcomes {
            let item = items[place]
            try await batch.attempt(item) { () async throws(ReelFailure) in
                let posted = try await telling(item) { () async throws(ReelFailure) in try outcome.get() }
                if lines.json { console.json(SubmittedView(id: posted.id, state: posted.state)) }
                say(posted.job, item)
                submitted.append((posted.job, item))
            }
        }
        try await posting
        return submitted
    }

    /// - Parameter outcome: takes what becomes of each job, and then ends.
    private static func post(
        _ jobs: [JobRecord], to service: JobService, anew: Bool,
        _ outcome: AsyncStream<(Int, Result<PostedJob, ReelFailure>)>.Continuation
    ) async throws {
        defer { outcome.finish() }
        try await Interruption.cancelling {
            try await service.post(jobs, anew: anew) { outcome.yield(($0, $1)) }
        }
    }

    /// Runs one step; if it fails, runs the `--on-done` command.
    private func telling<Result: Sendable>(
        _ item: BatchItem, _ work: () async throws(ReelFailure) -> Result
    ) async throws(ReelFailure) -> Result {
        do throws(ReelFailure) {
            return try await work()
        } catch {
            if error.kind != .interrupted {
                await endCommand.tell(
                    JobEnd(error, of: item.job.id, source: item.job.source.path, output: item.destination.path))
            }
            throw error
        }
    }

    private func submit(
        _ item: BatchItem, to service: JobService, _ engine: any EngineRunner
    ) async throws(ReelFailure) -> SubmittedJob {
        let job = item.job
        let (force, json, quotas) = (force, lines.json, quotas.quotas)
        let submitted = try await Interruption.cancelling {
            let reading = ReadingDisplay(on: console)
            var telling: Task<Void, any Error>?
            defer {
                telling?.cancel()
                reading.clear()
            }
            return try await service.submit(
                job, engine: engine, quotas: quotas, anew: force, reading: reading.heard
            ) { state in
                if json { return console.json(SubmittedView(id: job.id, state: state)) }
                // So its user knows which job goes on if this command is killed while the source is read.
                telling = Task {
                    try await Task.sleep(for: .seconds(2))
                    reading.clear()
                    console.say("job \(job.id): its source is being read")
                }
            }
        }
        // The id is printed only now, since a video that is refused has no job.
        say(submitted, item)
        return submitted
    }

    /// Prints a job's id, and what there is to tell about it.
    private func say(_ job: SubmittedJob, _ item: BatchItem) {
        if !lines.json { console.result(job.id.text) }
        for diagnostic in job.diagnostics { console.warn(diagnostic, of: item.subject) }
        switch job.outcome {
        case .published: break
        case .attached: console.say("job \(job.id) is running already")
        case .continued: console.say("job \(job.id) goes on where it was interrupted")
        case .finished: console.say("job \(job.id) is done already")
        }
        guard !wait else { return }
        console.say("when it is done: reel-coordinator fetch \(job.id)")
        if let place = job.output, let asked = item.job.terms.output, asked != place {
            console.say("fetch writes \(place), as the first submission asked; fetch -o names another place")
        }
    }

    private func follow(
        _ job: SubmittedJob, _ item: BatchItem, _ service: JobService
    ) async throws(ReelFailure) -> JobView {
        let (subject, lines) = (item.subject, lines)
        let view = try await Interruption.cancelling {
            var display = ProgressDisplay(on: console, of: subject)
            display.assumeSaid(job.diagnostics)
            defer { display.clear() }
            let view = try await service.follow(job.id) { view throws(ReelFailure) in
                display.show(view)
                lines.going(view)
            }
            display.warn(view.diagnostics.map(\.message))
            return view
        }
        try await service.results().deliver(job.id, to: item.destination)
        return view.delivered(to: item.destination.path)
    }
}

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Show a video's properties, the planned output and its cost.",
        discussion: HelpText.text(
            HelpText.examples(
                "reel-coordinator plan clip.mp4", "reel-coordinator plan cut.otio",
                "reel-coordinator plan cut.json --otio cut.otio"),
            HelpText.encoders, HelpText.containers,
            HelpText.environment([.sandbox, .configuration, .temporary] + HelpText.Variable.ofNetwork),
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
    @OptionGroup(title: HelpText.Section.work.rawValue) var sandbox: SandboxOption
    @OptionGroup(title: HelpText.Section.farm.rawValue) var quotas: QuotaOptions
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
        if let timeline { try await draft.check(timeline) }
        let choice = try draft.output(output, container: container)
        let remote = RemoteAccess.any()
        let engine = EngineHost(
            executable: try Programs().path("reel-engine"), sandbox: sandbox.mode, remote: remote)
        let job = try JobRecord(
            submitting: draft.sources, spec: draft.spec(in: choice.container),
            web: await remote?.fingerprints(of: draft.sources) ?? [:])
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
