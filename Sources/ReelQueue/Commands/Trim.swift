internal import ReelCore

extension Command {
    /// Leaves of a page of a finished job's results only the tokens. The answer is the cursor of the next page, "0" after the
    /// last.
    struct Trim: BoardCommand {
        var job: JobID
        var cursor: String

        static let name = "trim"
        static let source = PackageResources.trim_lua

        func arguments(_ timing: BoardTiming) -> [String] { [job.text, cursor] }

        func answer(_ reply: Reply) throws(ReelFailure) -> String {
            guard let cursor = reply.string else { throw reply.surprise }
            return cursor
        }
    }
}
