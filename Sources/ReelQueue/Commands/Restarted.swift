internal import ReelCore

extension Command {
    /// Gives one worker the audit that follows a start of Redis: that start. Nil for the others.
    struct Restarted: BoardCommand {
        static let name = "restarted"
        static let source = PackageResources.restarted_lua

        /// Three leases are given for it.
        func arguments(_ timing: BoardTiming) -> [String] { [String(3 * timing.lease.milliseconds)] }

        func answer(_ reply: Reply) throws(ReelFailure) -> String? { try reply == .none ? nil : reply.text() }
    }
}
