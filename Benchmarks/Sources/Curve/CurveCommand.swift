internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelEngine
internal import ReelStore

struct CurveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "curve",
        abstract: "What Benchmarks/curve needs beside real workers: what their engines say, and a simulation.",
        subcommands: [CurveReadyCommand.self, CurveScriptCommand.self])
}

struct CurveReadyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ready", abstract: "Prints the line with which an engine says that it is ready.")

    @Argument(help: "The engine.")
    var engine: String

    func run() async throws {
        let host = EngineHost(executable: engine, sandbox: .off)
        let identity = try await host.withEngine(memory: nil, scope: .nothing) { $0.identity }
        print(try CanonicalJSON.text(of: EngineEvent.ready(identity)))
    }
}

struct CurveScriptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "script",
        abstract: "Waits for a job's plan, writes what sleeping engines do for it, and prints the plan's simulation.",
        discussion: "Prints the number of passes; seconds of the passes, of an even share, of the assembly after them.")

    @Option(help: ArgumentHelp("The store that has the job.", valueName: "folder"))
    var store: String

    @Option(help: ArgumentHelp("Where the sleeping engines look.", valueName: "folder"))
    var folder: String

    @Option(help: "Slots of all workers together.")
    var slots: Int

    @Option(help: "How many times as long engines take.")
    var stretch = 1.0

    @Option(help: ArgumentHelp("What a run of Benchmarks/run has measured.", valueName: "file"))
    var costs: String?

    @Argument(help: "The job.")
    var job: String

    /// A plan of two hours takes a second or two.
    private static let patience = Duration.seconds(120)

    func validate() throws {
        guard slots > 0, stretch > 0 else { throw ValidationError("--slots and --stretch must be above 0") }
    }

    func run() async throws {
        let costs = try (self.costs.map(CurveCosts.read) ?? CurveCosts()).stretched(by: stretch)
        let entry = try FolderStore(root: store).job(JobID(job))
        let plan = try await plan(of: entry)
        let indexes = try await entry.readIndexes(of: plan)
        let costed = CostedPlan(plan, indexes: indexes, costs: costs)
        try SleepingScript(plan: costed, indexes: indexes, costs: costs).write(to: folder)
        let times = CurveSimulation(plan: costed, costs: costs).run(slots: slots)
        print(
            "\(times.passes) \(figure(times.work, "%.3f")) \(figure(times.share, "%.3f")) "
                + figure(times.assembly, "%.3f"))
    }

    private func plan(of entry: JobFolder) async throws -> Plan {
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline {
            if let plan = try? entry.latestPlan() { return plan }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Trouble("the job has no plan")
    }
}
