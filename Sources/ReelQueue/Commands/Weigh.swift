internal import ReelCore

extension Command {
    /// Gives a job another weight. The answer is its state, nil if there is no such job.
    struct Weigh: BoardCommand {
        var job: JobID
        var weight: Double

        static let name = "weigh"
        static let source = PackageResources.weigh_lua

        func arguments(_ timing: BoardTiming) -> [String] { [job.text, String(weight)] }

        func answer(_ reply: Reply) throws(ReelFailure) -> JobState? { try reply == .none ? nil : reply.value() }
    }
}
