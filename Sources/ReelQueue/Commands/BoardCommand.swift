internal import ReelCore

/// A function of the board as a value: its arguments by name, and what its reply means. Each is in a file beside this
/// one, named as its Lua file is.
protocol BoardCommand: SendableMetatype {
    associatedtype Answer

    /// Of the Lua file, and of the function behind the library's.
    static var name: String { get }
    /// The Lua file.
    static var source: [UInt8] { get }
    /// Whether it changes nothing.
    static var isLook: Bool { get }

    /// As texts, in the order that the header of the Lua file gives.
    func arguments(_ timing: BoardTiming) throws(ReelFailure) -> [String]

    /// Throws `.boardUnreadable` for a reply that the function does not give.
    func answer(_ reply: Reply) throws(ReelFailure) -> Answer
}

extension BoardCommand {
    static var isLook: Bool { false }

    static var function: String { "\(Library.name)_\(name)" }
}

/// The board's functions.
enum Command {
    /// All of them, by name.
    static let all: [any BoardCommand.Type] = [
        Adopt.self, Attend.self, Audit.self, Audited.self, Beat.self, Begin.self, Cancel.self, Claim.self,
        Complete.self, Depart.self, Disprove.self, Drain.self, Fail.self, Forget.self, Invalidate.self, Leave.self,
        Pause.self, Publish.self, Readmit.self, Reap.self, Release.self, Restarted.self, Restore.self, Retry.self,
        Status.self, Strip.self, Tally.self, Upload.self, Workers.self,
    ]
}

extension BoardTiming {
    var leaseText: String { String(lease.milliseconds) }
    var retentionText: String { String(retention.milliseconds) }
}
