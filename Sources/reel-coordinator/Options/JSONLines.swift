internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelTerminal

/// The options by which a command that makes outputs prints jobs as JSON, one a line.
struct JSONLines: ParsableArguments {
    @Flag(help: "Print each job as it ended, or the reason why it was refused, as a line of JSON.")
    var json = false

    @Flag(help: "With --json, print jobs also while they are worked on, twice a second.")
    var progress = false

    func validate() throws {
        guard json || !progress else { throw ValidationError("--progress needs --json") }
    }

    /// A job that is worked on.
    func going(_ view: JobView) {
        if progress, !view.state.isTerminal { console.json(view) }
    }

    /// A video that is left out.
    func skipped(_ view: SkippedView) {
        if json { console.json(view) }
    }

    /// A job that has ended.
    func ended(_ view: JobView) {
        if json { console.json(view) }
    }
}
