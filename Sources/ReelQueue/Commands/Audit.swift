internal import ReelCore

extension Command {
    /// Audits one page of a job's passes, and repairs contradictions.
    struct Audit: BoardCommand {
        var job: JobID
        /// The index to begin at.
        var start: Int

        struct Page: Equatable {
            var repairs: Int
            /// The index to go on from; nil after the last.
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
