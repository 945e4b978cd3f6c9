internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

struct WeighCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "weigh", abstract: "Give jobs another share of the work beside other jobs.",
        discussion: HelpText.text(
            "It counts from the next pass on that a worker claims.",
            HelpText.examples(
                "reel-coordinator weigh 3f2a --weight 3",
                "reel-coordinator weigh --all --label project=trailer --weight 0.5"),
            HelpText.ofBoard))

    @OptionGroup var arguments: JobArguments

    @Option(help: "Share of the work beside other jobs: 3 gets three times as much as 1.")
    var weight: Double

    func validate() throws { try TermsOptions.check(weight: weight) }

    func run() async throws {
        try await arguments.each(in: JobFilter.State.open) { service, job throws(ReelFailure) in
            try await service.weigh(job, weight)
        }
    }
}
