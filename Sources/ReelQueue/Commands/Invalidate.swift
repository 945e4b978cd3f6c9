internal import ReelCore

extension Command {
    /// Takes back results that have proved wrong. The answer is their number.
    struct Invalidate: BoardCommand {
        var job: JobID
        /// The index and token of each wrong result.
        var passes: [(index: Int, token: String)]
        var plan: Int
        /// The worker that found it.
        var worker: WorkerID
        var reason: ReelFailure

        static let name = "invalidate"
        static let source = PackageResources.invalidate_lua

        func arguments(_ timing: BoardTiming) throws(ReelFailure) -> [String] {
            [job.text, String(plan), worker.text, try JSON.text(reason), timing.retentionText]
                + passes.flatMap { [String($0.index), $0.token] }
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> Int { try reply.count() }
    }
}
