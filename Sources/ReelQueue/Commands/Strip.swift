internal import ReelCore

extension Command {
    /// The progress of a job's passes, in cells of equal size; nil if there is no such job.
    struct Strip: BoardCommand {
        var job: JobID
        var cells: Int

        struct Progress {
            /// The number of finished passes of each cell.
            var finished: [Int]
            /// The indices of passes that are held.
            var held: [Int]
            /// The indices of some passes that failed and wait for a retry, and that of the pass that failed the job.
            var failed: [Int]
        }

        static let name = "strip"
        static let source = PackageResources.strip_lua
        static let isReadOnly = true

        func arguments(_ timing: BoardTiming) -> [String] { [job.text, String(cells)] }

        func answer(_ reply: Reply) throws(ReelFailure) -> Progress? {
            if reply == .none { return nil }
            var parts = try ReplyReader(reply)
            let (finished, held, failed) = (try parts.list(), try parts.list(), try parts.list())
            try parts.end()
            guard finished.count == cells else { throw reply.surprise }
            func indices(_ list: [Reply]) -> [Int] { list.compactMap { $0.string.flatMap(Int.init) } }
            return Progress(finished: finished.map { $0.integer ?? 0 }, held: indices(held), failed: indices(failed))
        }
    }
}
