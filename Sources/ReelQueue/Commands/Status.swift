internal import ReelCore

extension Command {
    /// One consistent look at a job; nil if there is no such job.
    struct Status: BoardCommand {
        var job: JobID

        static let name = "status"
        static let source = PackageResources.status_lua
        static let isReadOnly = true

        func arguments(_ timing: BoardTiming) -> [String] { [job.text] }

        func answer(_ reply: Reply) throws(ReelFailure) -> StatusReply? {
            try reply == .none ? nil : StatusReply(reply)
        }
    }
}
