internal import ReelCore

extension Command {
    /// Runs a failed job again. The answer is the state that it was in, nil if there is no such job or it is being
    /// removed.
    struct Retry: BoardCommand {
        var job: JobID

        static let name = "retry"
        static let source = PackageResources.retry_lua

        func arguments(_ timing: BoardTiming) -> [String] { [job.text, timing.retentionText] }

        func answer(_ reply: Reply) throws(ReelFailure) -> JobState? {
            switch reply {
            case .none: nil
            case .string("ok"): .failed
            default: try reply.value()
            }
        }
    }
}
