internal import ReelCore

extension Command {
    /// The sign of life of a process that waits for a job. Nil if there is no such job.
    struct Attend: BoardCommand {
        var job: JobID
        var waiter: String
        /// The token of the waiter's claim on the planning.
        var token: String?

        static let name = "attend"
        static let source = PackageResources.attend_lua

        func arguments(_ timing: BoardTiming) -> [String] {
            [job.text, waiter, token ?? "", timing.leaseText, timing.retentionText]
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> Attendance? {
            if reply == .none { return nil }
            var parts = try ReplyReader(reply)
            let attendance = Attendance(
                state: try parts.value(), holds: try parts.integer() == 1, isFree: try parts.integer() == 1)
            try parts.end()
            return attendance
        }
    }
}
