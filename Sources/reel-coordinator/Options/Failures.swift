internal import ReelCore
internal import ReelTerminal

/// The failures of a command that tries each of several things.
struct Failures {
    private var first: ReelFailure?

    /// Reports the failure of one of them.
    ///
    /// - Parameter job: the job that it is about, if there is one.
    mutating func note(_ failure: ReelFailure, of job: JobID? = nil) {
        console.report(failure, of: job)
        first = first ?? failure
    }

    /// Throws the first failure, which decides the exit code.
    func end() throws {
        if let first { throw ReportedFailure(first) }
    }
}
