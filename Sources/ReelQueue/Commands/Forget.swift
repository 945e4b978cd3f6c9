internal import ReelCore

extension Command {
    /// Removes every key of an ended job. The answer is the state of a job that has not ended, else nil.
    struct Forget: BoardCommand {
        var job: JobID
        var removal: Removal?

        static let name = "forget"
        static let source = PackageResources.forget_lua

        func arguments(_ timing: BoardTiming) -> [String] { [job.text, removal?.holder ?? ""] }

        func answer(_ reply: Reply) throws(ReelFailure) -> JobState? {
            try reply == .string("ok") ? nil : reply.value()
        }
    }
}
