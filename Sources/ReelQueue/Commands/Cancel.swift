internal import ReelCore

extension Command {
    /// Ends a job. False if there is no such job, or it has ended.
    struct Cancel: BoardCommand {
        var job: JobID

        static let name = "cancel"
        static let source = PackageResources.cancel_lua

        func arguments(_ timing: BoardTiming) -> [String] { [job.text, timing.retentionText] }

        func answer(_ reply: Reply) throws(ReelFailure) -> Bool { try reply.flag() }
    }
}
