internal import ReelCore

extension Command {
    /// Gives one worker the audit that follows a start of Redis. That worker gets the id of the start, the others nil.
    struct Restarted: BoardCommand {
        static let name = "restarted"
        static let source = PackageResources.restarted_lua

        /// A worker has three leases' time for the audit before another gets it.
        func arguments(_ timing: BoardTiming) -> [String] { [String(3 * timing.lease.milliseconds)] }

        func answer(_ reply: Reply) throws(ReelFailure) -> String? { try reply == .none ? nil : reply.text() }
    }
}
