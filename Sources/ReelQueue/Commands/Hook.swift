internal import ReelCore

extension Command {
    /// Adds a webhook to a job. The answer is nil if there is no such job.
    struct Hook: BoardCommand {
        var job: JobID
        var url: String

        static let name = "hook"
        static let source = PackageResources.hook_lua

        func arguments(_ timing: BoardTiming) -> [String] { [job.text, url] }

        func answer(_ reply: Reply) throws(ReelFailure) -> HookAnswer? { reply == .none ? nil : try reply.value() }
    }
}
