internal import ArgumentParser
internal import ReelCore
internal import ReelEngine
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

struct SubmitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit", abstract: "Submit videos to the workers; prints one job id per line.",
        discussion: HelpText.text(
            """
            Submitting the same again attaches to the running job, or resumes the interrupted one. A video that is refused \
            does not keep the others from being submitted and delivered.
            """,
            HelpText.examples(
                "reel-coordinator submit clip.mp4",
                "reel-coordinator submit *.mp4 --container mkv --wait",
                "reel-coordinator submit clip.mp4 -o /srv/out/clip.mp4 --weight 3"),
            HelpText.encoders, HelpText.containers,
            HelpText.environment([.redis, .redisFile, .namespace, .store, .sandbox, .sourceRoots]),
            HelpText.exitCodes))

    @Argument(
        help:
            "The videos to reverse, or files of edits (.json) and timelines (.otio); with --stitch, one output of all.",
        completion: .file())
    var sources: [String]

    @Flag(help: "Follow the jobs and deliver their results; Ctrl-C then leaves them to the workers.")
    var wait = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var spec: SpecOptions
    @OptionGroup var sandbox: SandboxOption
    @OptionGroup var quotas: QuotaOptions
    @OptionGroup var sourceRoot: SourceRootOption
    @OptionGroup var terms: TermsOptions
    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

    @Flag(help: "Start over, even if an earlier submission of the same job could be resumed.")
    var force = false

    @Flag(
        help: """
            Print JSON, one object per line: id and state of each job as soon as it has its id, then with --wait the job \
            as it ended, or the reason why it was refused.
            """)
    var json = false

    func validate() throws {
        guard output.output == nil || sources.count == 1 || spec.stitch else {
            throw ValidationError("-o takes one video only; --stitch makes one output of several")
        }
        guard wait || !output.overwrite else { throw ValidationError("--overwrite needs --wait") }
    }

    func run() async throws {
        let roots = try sourceRoot.roots()
        let orders = try spec.orders(sources)
        var batch = Batch(sources: orders.count)
        var wanted: [(job: JobRecord, destination: Destination)] = []
        for order in orders {
            try batch.prepare { () throws(ReelFailure) in
                order.diagnostics.forEach(console.warn)
                let choice = try output.choice(for: order, spec)
                var terms = terms.terms
                terms.output = choice.path
                let job = try JobRecord(
                    submitting: order.sources, spec: spec.spec(order, choice.container), terms: terms, within: roots,
                    stages: self.terms.stage)
                let destination = Destination(choice.path, overwrite: output.overwrite)
                if wait { try order.check(destination) }
                if let other = wanted.first(where: { $0.destination.path == choice.path && $0.job.id != job.id }) {
                    throw ReelFailure(.outputTwice(path: choice.path, source: other.job.source.path))
                }
                wanted.append((job, destination))
            }
        }
        guard !wanted.isEmpty else { return try batch.end() }
        let service = try await redis.service(joining: store.open(), warnings: true)
        let engine = EngineHost(
            executable: try Programs().path("reel-engine"), sandbox: sandbox.mode, sourceRoots: roots)
        var submitted: [(job: SubmittedJob, spec: JobSpec, destination: Destination)] = []
        for (job, destination) in wanted {
            try await batch.attempt(job.id) { () async throws(ReelFailure) in
                let found = try await submit(job, to: service, engine)
                if !wait { console.say("when it is done: reel-coordinator fetch \(job.id)") }
                submitted.append((found, job.spec, destination))
            }
        }
        for (job, spec, destination) in wait ? submitted : [] {
            try await batch.attempt(job.id) { () async throws(ReelFailure) in
                let view = try await follow(job, to: destination, service)
                console.say("wrote \(destination.path): \(spec.countedFrames(view.frames))")
                if json { console.json(view) }
            }
        }
        try batch.end()
    }

    private func submit(
        _ job: JobRecord, to service: JobService, _ engine: any EngineRunner
    ) async throws(ReelFailure) -> SubmittedJob {
        let (force, json, quotas) = (force, json, quotas.quotas)
        let submitted = try await Interruption.cancelling {
            let reading = ReadingDisplay(on: console)
            defer { reading.clear() }
            return try await service.submit(
                job, engine: engine, quotas: quotas, anew: force, reading: reading.heard
            ) { state in
                if json {
                    console.json(SubmittedView(id: job.id, state: state))
                } else {
                    console.result(job.id.text)
                }
            }
        }
        for diagnostic in submitted.diagnostics { console.warn(diagnostic) }
        switch submitted.outcome {
        case .published: break
        case .attached: console.say("job \(job.id) is running already")
        case .continued: console.say("job \(job.id) goes on where it was interrupted")
        case .finished: console.say("job \(job.id) is done already")
        }
        return submitted
    }

    /// Waits until a job is done, and delivers its result.
    private func follow(
        _ job: SubmittedJob, to destination: Destination, _ service: JobService
    ) async throws(ReelFailure) -> JobView {
        let view = try await Interruption.cancelling {
            var display = ProgressDisplay(on: console)
            display.assumeSaid(job.diagnostics)
            defer { display.clear() }
            let view = try await service.follow(job.id) { view throws(ReelFailure) in display.show(view) }
            display.warn(view.diagnostics.map(\.message))
            return view
        }
        try await service.results().deliver(job.id, to: destination)
        return view.delivered(to: destination.path)
    }
}
