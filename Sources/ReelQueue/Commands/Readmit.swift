internal import ReelCore

extension Command {
    /// Lets a worker work again at jobs that exclude it. The answer is their number.
    struct Readmit: BoardCommand {
        var worker: WorkerID
        var jobs: [JobID]

        static let name = "readmit"
        static let source = PackageResources.readmit_lua

        func arguments(_ timing: BoardTiming) -> [String] { [worker.text] + jobs.map(\.text) }

        func answer(_ reply: Reply) throws(ReelFailure) -> Int { try reply.count() }
    }
}
