internal import ReelCore

extension Command {
    /// Pauses or resumes a job. The answer is its state, nil if there is no such job.
    struct Pause: BoardCommand {
        var job: JobID
        var pauses: Bool

        static let name = "pause"
        static let source = PackageResources.pause_lua

        func arguments(_ timing: BoardTiming) -> [String] { [job.text, pauses ? "1" : "0", timing.retentionText] }

        func answer(_ reply: Reply) throws(ReelFailure) -> JobState? { try reply == .none ? nil : reply.value() }
    }
}
