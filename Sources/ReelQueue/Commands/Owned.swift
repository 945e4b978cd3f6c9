internal import ReelCore

extension Command {
    /// How many jobs of a submitter have not ended.
    struct Owned: BoardCommand {
        var submitter: String

        static let name = "owned"
        static let source = PackageResources.owned_lua
        static let isReadOnly = true

        func arguments(_ timing: BoardTiming) -> [String] { [submitter] }

        func answer(_ reply: Reply) throws(ReelFailure) -> Int { try reply.count() }
    }
}
