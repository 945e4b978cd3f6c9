internal import ReelCore

extension Command {
    /// Removes a worker that ends from the registry.
    struct Depart: BoardCommand {
        var worker: WorkerID

        static let name = "depart"
        static let source = PackageResources.depart_lua

        func arguments(_ timing: BoardTiming) -> [String] { [worker.text] }

        func answer(_ reply: Reply) throws(ReelFailure) { _ = try reply.text() }
    }
}
