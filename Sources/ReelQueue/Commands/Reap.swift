internal import ReelCore

extension Command {
    /// Requeues passes whose leases have lapsed, `BoardPolicy.reaped` leases at a time.
    struct Reap: BoardCommand {
        struct Answer: Equatable {
            var requeued: Int
            /// The number of leases that the call looked at.
            var seen: Int
        }

        static let name = "reap"
        static let source = PackageResources.reap_lua

        func arguments(_ timing: BoardTiming) -> [String] { [timing.leaseText, timing.retentionText] }

        func answer(_ reply: Reply) throws(ReelFailure) -> Answer {
            var parts = try ReplyReader(reply)
            let answer = Answer(requeued: try parts.integer(), seen: try parts.integer())
            try parts.end()
            return answer
        }
    }
}
