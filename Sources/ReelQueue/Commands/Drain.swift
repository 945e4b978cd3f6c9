internal import ReelCore

extension Command {
    /// Has a worker drain. False if no worker of that name is registered.
    struct Drain: BoardCommand {
        var worker: WorkerID

        static let name = "drain"
        static let source = PackageResources.drain_lua

        func arguments(_ timing: BoardTiming) -> [String] { [worker.text] }

        func answer(_ reply: Reply) throws(ReelFailure) -> Bool { try reply.flag() }
    }
}
