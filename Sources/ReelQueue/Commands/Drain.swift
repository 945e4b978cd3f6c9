internal import ReelCore

extension Command {
    /// Has a worker or a host be given nothing, or takes that back. False if no worker of that name is registered, or if
    /// there is nothing to take back.
    struct Drain: BoardCommand {
        var scope: DrainScope
        /// The worker's id, or the host's name.
        var target: String
        var drains: Bool

        static let name = "drain"
        static let source = PackageResources.drain_lua

        func arguments(_ timing: BoardTiming) -> [String] { [target, scope.rawValue, drains ? "1" : "0"] }

        func answer(_ reply: Reply) throws(ReelFailure) -> Bool { try reply.flag() }
    }
}
