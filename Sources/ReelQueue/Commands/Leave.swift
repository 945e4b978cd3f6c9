internal import ReelCore

extension Command {
    /// Ends the waiting for a job.
    struct Leave: BoardCommand {
        var job: JobID
        var waiter: String
        /// Of the probe that it holds.
        var token: String?
        /// Whether it wants a job removed that has come to nothing.
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
