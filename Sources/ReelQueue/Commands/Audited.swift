internal import ReelCore

extension Command {
    /// Notes that the board was audited after a start of Redis.
    struct Audited: BoardCommand {
        /// The start of Redis, as `Restarted` answered.
        var start: String

        static let name = "audited"
        static let source = PackageResources.audited_lua

        func arguments(_ timing: BoardTiming) -> [String] { [start] }

        func answer(_ reply: Reply) throws(ReelFailure) { _ = try reply.text() }
    }
}
