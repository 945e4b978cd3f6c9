internal import ReelCore

extension Command {
    /// Compares what the board says of some passes of a job, and repairs it.
    struct Audit: BoardCommand {
        var job: JobID
        /// Index to begin at.
        var start: Int

        struct Page: Equatable {
            var repairs: Int
            /// Index to go on from; nil after the last.
            var next: Int?
        }

        static let name = "audit"
        static let source = PackageResources.audit_lua

        func arguments(_ timing: BoardTiming) -> [String] {
            [job.text, String(start), timing.leaseText, timing.retentionText]
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> Page {
            var parts = try ReplyReader(reply)
            let (repairs, next) = (try parts.integer(), try parts.integer())
            try parts.end()
            return Page(repairs: repairs, next: next < 0 ? nil : next)
        }
    }
}
