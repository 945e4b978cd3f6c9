internal import ReelCore

extension Command {
    /// Ends the waiting of a process for a job.
    struct Leave: BoardCommand {
        var job: JobID
        var waiter: String
        /// The token of the waiter's claim on the planning.
        var token: String?
        /// Whether the waiter has no more use for the job.
        var abandons: Bool

        static let name = "leave"
        static let source = PackageResources.leave_lua

        func arguments(_ timing: BoardTiming) -> [String] {
            [job.text, waiter, token ?? "", abandons ? "1" : "0", timing.leaseText, timing.retentionText]
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> Departure {
            switch try reply.text() {
            case "stays": .stays
            case "remove": .remove(Removal(holder: waiter))
            default: throw reply.surprise
            }
        }
    }
}
