internal import ArgumentParser
internal import ReelJobs
package import ReelStore
internal import ReelWords

/// Options of a job that shares board and store with others; they do not change its output.
package struct TermsOptions: ParsableArguments {
    @Option(help: "Share of the work beside other jobs: 3 gets three times as much as 1.")
    var weight = 1.0

    @Option(help: .of(.retain), transform: TimeSpan.read) var retain: TimeSpan?
    @Flag(help: .of(.keepSegments)) var keepSegments = false

    @Flag(help: "Copy the video into the store, for workers that do not see it where it is.")
    package var stage = false

    /// The terms that the options set.
    package var terms: JobTerms {
        JobTerms(weight: weight, retain: Double((retain ?? .week).seconds), keepsSegments: keepSegments)
    }

    /// For ArgumentParser.
    package init() {}

    /// Throws `ValidationError` for a weight that no job can have.
    package func validate() throws { try TermsOptions.check(weight: weight) }

    /// Throws for a weight that no job can have.
    package static func check(weight: Double) throws {
        guard JobTerms.weights.contains(weight) else {
            throw ValidationError("--weight must be 0.001 to 1000")
        }
    }
}
