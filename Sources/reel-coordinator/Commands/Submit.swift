internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelJobs
internal import ReelQueue
internal import ReelStore
internal import ReelTerminal
internal import ReelWords

/// The distributed way: hands jobs to whichever workers share the board and the store.
struct SubmitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit", abstract: "Hand videos to the workers; prints a job's id a line.",
        discussion: "Submitting the same again attaches to the running job, or resumes the interrupted one.")

    @Argument(help: "The videos to reverse.")
    var sources: [String]

    @Flag(help: "Follow the jobs and deliver their results; Ctrl-C then leaves them to the workers.")
    var wait = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var spec: SpecOptions
    @OptionGroup var terms: TermsOptions
    @OptionGroup var redis: RedisOption
    @OptionGroup var store: StoreOption

    @Flag(help: "Start anew, whatever was done of the same job before.")
    var force = false

    @Flag(
        help: """
            Print JSON, an object a line: id and state of each job as soon as it has its id, then what became of it with \
            --wait, or why it was refused.
            """)
    var json = false

    func validate() throws {
        guard output.output == nil || wait else { throw ValidationError("-o needs --wait; fetch delivers later") }
        guard output.output == nil || sources.count == 1 else { throw ValidationError("-o takes one video only") }
        guard wait || !output.overwrite else { throw ValidationError("--overwrite needs --wait") }
    }

    func run() async throws {
        var orders: [Order] = []
        for source in sources {
            let choice = try output.choice(for: source, lossless: spec.lossless)
            let job = try JobRecord(
                submitting: source, spec: spec.spec(choice.container), terms: terms.terms, stages: terms.stage)
            let deliver = Deliver(to: choice.path, overwrite: output.overwrite)
            if wait { try deliver.check(source: source) }
            orders.append(Order(job: job, deliver: deliver))
        }
        let store = try store.open()
        let board = try await redis.connect(warnings: true)
        try await store.join(board)
        let reading = ReadingDisplay(on: console)
        let submit = Submit(
            store: store, engine: EngineHost(executable: try Programs().path("reel-engine")),
            capacity: try await Capacity.ofWorkers(on: board), heard: reading.heard)
        let (force, wait, json) = (force, wait, json)
        var placed: [(PlacedJob, Deliver)] = []
        for order in orders {
            let found = try await SubmitCommand.reporting(order.job.id, json: json) { () throws(ReelFailure) in
                defer { reading.clear() }
                return try await Interruption.cancelling {
                    try await order.submit(with: submit, to: board, anew: force, json: json)
                }
            }
            if !wait {
                console.say("when it is done: reel-coordinator fetch \(order.job.id) -o \(order.deliver.output)")
            }
            placed.append((found, order.deliver))
        }
        guard wait else { return }
        for (job, deliver) in placed {
            let view = try await SubmitCommand.reporting(job.id, json: json) { () throws(ReelFailure) in
                try await SubmitCommand.follow(job, deliver, on: board)
            }
            if json { console.json(view) }
        }
    }

    /// A failure is a line of JSON, too, where that is asked for.
    private static func reporting<Result>(
        _ id: JobID, json: Bool, _ body: () async throws(ReelFailure) -> Result
    ) async throws -> Result {
        do throws(ReelFailure) {
            return try await body()
        } catch {
            let failure = error.kind == .interrupted ? ReelFailure(.jobGoesOn(job: id)) : error
            if json { console.json(ErrorView(failure, message: console.words(failure), job: id)) }
            throw failure
        }
    }

    private struct Order: Sendable {
        let job: JobRecord
        let deliver: Deliver

        func submit(
            with submit: Submit, to board: any Board, anew: Bool, json: Bool
        ) async throws(ReelFailure) -> PlacedJob {
            let (placed, outcome) = try await submit.submit(job, to: board, anew: anew) { state in
                if json {
                    console.json(SubmittedView(id: job.id.text, state: state))
                } else {
                    console.result(job.id.text)
                }
            }
            for diagnostic in placed.plan.diagnostics { console.warn(diagnostic) }
            switch outcome {
            case .published: break
            case .attached: console.say("job \(job.id) is running already")
            case .resumed: console.say("job \(job.id) goes on where it was interrupted")
            case .finished: console.say("job \(job.id) is done already")
            }
            return placed
        }
    }

    private static func follow(
        _ job: PlacedJob, _ deliver: Deliver, on board: any Board
    ) async throws(ReelFailure) -> JobView {
        let view = try await Interruption.cancelling { try await finish(job, on: board) }
        try deliver.copy(job.folder)
        console.say("wrote \(deliver.output): \(view.frames) frames")
        return view.delivered(to: deliver.output)
    }

    private static func finish(_ job: PlacedJob, on board: any Board) async throws(ReelFailure) -> JobView {
        if job.result != nil, let view = try JobView(job.folder) { return view }
        var display = ProgressDisplay(on: console)
        display.assumeSaid(job.plan.diagnostics)
        defer { display.clear() }
        let idle = IdleWatch(board)
        let status = try await Follow(job.id, on: board, patience: .seconds(60)).untilEnd {
            status async throws(ReelFailure) in
            display.show(status)
            if let reason = try await idle.reason(status) { display.warn([Advice.sentence(on: reason)]) }
        }
        if let failure = status.endingFailure { throw failure }
        let diagnostics = try await board.passDiagnostics(job.id)
        display.warn(diagnostics.map(\.words))
        return JobView(status, output: job.folder.result, found: diagnostics)
    }
}

/// A job as soon as it has its id.
struct SubmittedView: Encodable {
    let id: String
    let state: JobState
}
