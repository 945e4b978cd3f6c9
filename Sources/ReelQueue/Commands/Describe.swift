internal import ReelCore

extension Command {
    /// Records what a submitter says of a job. False if there is no such job.
    struct Describe: BoardCommand {
        var job: JobID
        /// The submission as JSON, which the board does not read.
        var submission: String

        static let name = "describe"
        static let source = PackageResources.describe_lua

        func arguments(_ timing: BoardTiming) -> [String] { [job.text, submission] }

        func answer(_ reply: Reply) throws(ReelFailure) -> Bool { try reply.flag() }
    }
}
