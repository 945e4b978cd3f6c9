internal import ReelCore
internal import ReelStore
internal import ReelTerminal

/// The videos of a command: one that fails does not keep the others from being worked on.
struct Batch {
    /// How many there are.
    let sources: Int
    /// How many of them were left out.
    private(set) var skipped = 0
    private var failures: [ReelFailure] = []

    /// - Parameter refused: of those, the failures of arguments that make no draft. They are reported here.
    init(sources: Int, refused: [ReelFailure]) {
        self.sources = sources
        failures = refused
        for failure in refused { console.report(failure) }
    }

    /// Does a part of the work on a video. Reports its failure, but throws one that ends the command.
    mutating func attempt(
        _ item: BatchItem, _ work: () async throws(ReelFailure) -> Void
    ) async throws {
        do throws(ReelFailure) { try await work() } catch { try note(error, of: item.job.id, item.subject) }
    }

    /// Does what comes before there is a job. Reports a failure likewise.
    mutating func prepare(_ subject: BatchPlace?, _ work: () throws(ReelFailure) -> Void) throws {
        do throws(ReelFailure) { try work() } catch { try note(error, of: nil, subject) }
    }

    /// Leaves a video out, and says why.
    mutating func skip(_ view: SkippedView, _ why: String, _ lines: JSONLines) {
        skipped += 1
        console.say("\(view.source): skipped, \(why)")
        lines.skipped(view)
    }

    /// Counts a failure that was reported.
    mutating func note(_ failure: ReelFailure) { failures.append(failure) }

    private mutating func note(_ failure: ReelFailure, of job: JobID?, _ subject: BatchPlace?) throws {
        guard failure.kind != .interrupted else {
            guard let job else { throw failure }
            let goesOn = ReelFailure(.jobGoesOn(job: job))
            console.report(goesOn, of: job)
            throw ReportedFailure(goesOn)
        }
        console.report(failure, of: job, subject)
        note(failure)
    }

    /// Sums up if there are several videos. Throws the first failure, which decides the exit code.
    func end() throws {
        guard let first = failures.first else { return }
        if sources > 1 { console.say("\(failures.count) of \(sources) videos failed") }
        throw ReportedFailure(first)
    }
}
