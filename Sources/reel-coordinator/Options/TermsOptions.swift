internal import ArgumentParser
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal
internal import ReelWords

/// Options of a job that shares board and store with others; they do not change its output.
struct TermsOptions: ParsableArguments {
    @Option(help: "Share of the work beside other jobs: 3 gets three times as much as 1.")
    var weight = 1.0

    @Option(
        help: ArgumentHelp(
            "How long the store keeps the job after its end, as 7d, 12h or 90m. Default: 7d.", valueName: "time"),
        transform: TimeSpan.read)
    var retain: TimeSpan?

    @Flag(help: "Keep the segments in the store after the job is done.")
    var keepSegments = false

    @Flag(help: "Copy the video into the store, for workers that do not see it where it is.")
    var stage = false

    var terms: JobTerms {
        JobTerms(weight: weight, retain: Double((retain ?? .week).seconds), keepsSegments: keepSegments)
    }

    func validate() throws { try TermsOptions.check(weight: weight) }

    /// Throws for a weight that no job can have.
    static func check(weight: Double) throws {
        guard weight.isFinite, weight >= 0.001, weight <= 1000 else {
            throw ValidationError("--weight must be 0.001 to 1000")
        }
    }
}
