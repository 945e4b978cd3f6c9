internal import ReelCore

extension Command {
    /// Puts passes of a plan on the board. False if the token does not hold the planning.
    struct Upload: BoardCommand {
        var job: JobID
        /// The token that holds the planning.
        var token: String
        /// Whether this is the first of several calls, which removes the passes that an earlier publisher left.
        var isFirst: Bool
        var passes: [(index: Int, pass: Pass)]

        static let name = "upload"
        static let source = PackageResources.upload_lua

        func arguments(_ timing: BoardTiming) throws(ReelFailure) -> [String] {
            var arguments = [job.text, token, timing.leaseText, isFirst ? "1" : "0"]
            for (index, pass) in passes {
                arguments += [String(index), WorkKind(pass).rawValue, try JSON.text(pass)]
            }
            return arguments
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> Bool { try reply.flag() }
    }
}
