internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelPipeline
internal import ReelQueue
internal import ReelStore

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

    @Flag(help: "With --wait, print what became of each job as a line of JSON.")
    var json = false

    func validate() throws {
        guard output.output == nil || wait else { throw ValidationError("-o needs --wait; fetch delivers later") }
        guard output.output == nil || sources.count == 1 else { throw ValidationError("-o takes one video only") }
        guard wait || !json else { throw ValidationError("--json needs --wait; without it, the job's id is printed") }
        guard wait || !output.overwrite else { throw ValidationError("--overwrite needs --wait") }
    }

    func run() async throws {
        var orders: [Order] = []
        for source in sources {
            let choice = try output.choice(for: source, lossless: spec.lossless)
            _ = try Fingerprint.of(source)
            let deliver = Deliver(to: choice.path, overwrite: output.overwrite)
            if wait { try deliver.check(source: source) }
            orders.append(Order(source: source, spec: spec.spec(choice.container), deliver: deliver))
        }
        let store = try store.open()
        let board = try await redis.connect(warnings: true)
        let submit = Submit(
            store: store, engine: EngineHost(executable: try Programs().path("reel-engine")),
            capacity: Capacity(slots: try await SubmitCommand.slots(board)), terms: terms.terms, stages: terms.stage)
        let (force, wait, json) = (force, wait, json)
        var jobs: [(PlacedJob, Deliver)] = []
        for order in orders {
            let job = try await Interruption.cancelling { () throws in
                try await order.submit(with: submit, to: board, anew: force)
            }
            Console.result(job.id.text)
            if !wait { Console.say("when it is done: reel-coordinator fetch \(job.id) -o \(order.deliver.output)") }
            jobs.append((job, order.deliver))
        }
        guard wait else { return }
        for (job, deliver) in jobs {
            let view = try await SubmitCommand.follow(job, deliver, on: board)
            if json { try Console.json(view) }
        }
    }

    /// How many passes the workers that are there can do at once; where there is none yet, a few.
    private static func slots(_ board: Board) async throws(ReelFailure) -> Int {
        let slots = try await board.workers().reduce(0) { $0 + $1.report.slots }
        return slots > 0 ? slots : 8
    }

    private struct Order: Sendable {
        let source: String
        let spec: JobSpec
        let deliver: Deliver

        func submit(with submit: Submit, to board: Board, anew: Bool) async throws(ReelFailure) -> PlacedJob {
            let preparation = try await submit.prepare(source: source, spec: spec, ahead: board)
            let (job, outcome) = try await submit.submit(preparation, to: board, anew: anew)
            for warning in job.plan.warnings { Console.say("warning: \(warning)") }
            switch outcome {
            case .published: break
            case .attached: Console.say("job \(job.id) is running already")
            case .resumed: Console.say("job \(job.id) goes on where it was interrupted")
            case .finished: Console.say("job \(job.id) is done already")
            }
            return job
        }
    }

    private static func follow(
        _ job: PlacedJob, _ deliver: Deliver, on board: Board
    ) async throws(ReelFailure) -> JobView {
        do throws(ReelFailure) {
            let view = try await Interruption.cancelling { try await finish(job, on: board) }
            try deliver.copy(job.folder)
            Console.say("wrote \(deliver.output): \(view.frames) frames")
            return view.delivered(to: deliver.output)
        } catch  where error.kind == .interrupted {
            throw ReelFailure(
                .interrupted,
                "job \(job.id) goes on without this command; reel-coordinator status \(job.id) tells how far "
                    + "it is, cancel \(job.id) ends it", cause: .transient)
        }
    }

    private static func finish(_ job: PlacedJob, on board: Board) async throws(ReelFailure) -> JobView {
        if job.result != nil, let view = try JobView(job.folder) { return view }
        var display = ProgressDisplay()
        display.assumeSaid(job.plan.warnings)
        defer { display.clear() }
        let idle = IdleWatch(board)
        let status = try await Follow(job.id, on: board, patience: .seconds(60)).untilEnd {
            status async throws(ReelFailure) in
            display.show(status)
            if let reason = try await idle.reason(status) { display.warn([reason]) }
        }
        if let failure = status.endingFailure { throw failure }
        let warnings = try await board.passWarnings(job.id)
        display.warn(warnings)
        return JobView(status, output: nil, notes: warnings)
    }
}
