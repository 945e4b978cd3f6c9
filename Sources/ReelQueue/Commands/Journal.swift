internal import ReelCore

extension Command {
    /// Adds an entry to the journal.
    struct Journal: BoardCommand {
        var action: JournalAction

        static let name = "journal"
        static let source = PackageResources.journal_lua

        func arguments(_ timing: BoardTiming) -> [String] {
            [action.who, action.role, action.address, action.action, action.job?.text ?? ""]
                .map { String($0.prefix(JournalAction.longest)) } + [String(action.status)]
        }

        func answer(_ reply: Reply) throws(ReelFailure) { _ = try reply.text() }
    }
}
