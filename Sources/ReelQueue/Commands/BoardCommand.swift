internal import ReelCore

/// A call of one of the board's functions as a value: its arguments by name, and what its reply means. Each command is
/// in a file of its own, named after its Lua file.
protocol BoardCommand: SendableMetatype {
    associatedtype Answer

    /// The name of the Lua file. The function's name is this after the library's name.
    static var name: String { get }
    /// The text of the Lua file.
    static var source: [UInt8] { get }
    /// Whether the function changes nothing.
    static var isReadOnly: Bool { get }

    /// The arguments as texts, in the order that the header of the Lua file gives.
    func arguments(_ timing: BoardTiming) throws(ReelFailure) -> [String]

    /// The meaning of a reply. Throws `.boardUnreadable` for a reply that the function should not give.
    func answer(_ reply: Reply) throws(ReelFailure) -> Answer
}

extension BoardCommand {
    static var isReadOnly: Bool { false }

    static var function: String { "\(Library.name)_\(name)" }
}

/// The commands, one for each of the board's functions.
enum Command {
    /// All commands, in the order of their names.
    static let all: [any BoardCommand.Type] = [
        Adopt.self, Attend.self, Audit.self, Audited.self, Backlog.self, Beat.self, Begin.self, Cancel.self, Claim.self,
        Complete.self, Depart.self, Describe.self, Dispatch.self, Dispatched.self, Disprove.self, Drain.self, Fail.self,
        Figures.self, Forget.self, Hook.self, Invalidate.self, Leave.self, Owned.self, Passes.self,
        Pause.self, Publish.self, Rates.self, Readmit.self, Reap.self, Release.self, Restarted.self, Restore.self,
        Retry.self, Status.self, Strip.self, Tally.self, Trim.self, Upload.self, Weigh.self, Workers.self,
    ]
}

extension BoardTiming {
    var leaseText: String { String(lease.milliseconds) }
    var retentionText: String { String(retention.milliseconds) }
}
