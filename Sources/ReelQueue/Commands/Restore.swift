internal import ReelCore

extension Command {
    /// Records passes as finished whose results the store has. False if the token does not hold the planning.
    struct Restore: BoardCommand {
        var job: JobID
        /// The token that holds the planning.
        var token: String
        var results: [(index: Int, recorded: RecordedResult)]

        static let name = "restore"
        static let source = PackageResources.restore_lua

        func arguments(_ timing: BoardTiming) throws(ReelFailure) -> [String] {
            var arguments = [job.text, token, timing.leaseText]
            for (index, recorded) in results {
                arguments += [
                    String(index), "\(recorded.token) \(try JSON.text(recorded.result))",
                    try JSON.lines(recorded.result.diagnostics),
                ]
            }
            return arguments
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> Bool { try reply.flag() }
    }
}
