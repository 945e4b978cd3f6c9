internal import ReelCore

extension Command {
    /// Some of a job's passes, one by one; nil if there is no such job.
    struct Passes: BoardCommand {
        var job: JobID
        var range: Range<Int>

        struct Look {
            /// The pass that failed the job.
            var exhausted: Int?
            /// Of each pass, as Redis has it.
            var rows: [Row]
        }

        struct Row {
            var pass: String?
            var isFinished: Bool
            var holder: String?
            var failures: String?
            var isWaiting: Bool
        }

        static let name = "passes"
        static let source = PackageResources.passes_lua
        static let isReadOnly = true

        func arguments(_ timing: BoardTiming) -> [String] { [job.text, String(range.lowerBound), String(range.count)] }

        func answer(_ reply: Reply) throws(ReelFailure) -> Look? {
            if reply == .none { return nil }
            var parts = try ReplyReader(reply)
            let exhausted = Int(try parts.text())
            let (passes, finished) = (try parts.list(), try parts.list())
            let (holders, failures, waiting) = (try parts.list(), try parts.list(), try parts.list())
            try parts.end()
            guard [passes, finished, holders, failures, waiting].allSatisfy({ $0.count == range.count }) else {
                throw reply.surprise
            }
            return Look(
                exhausted: exhausted,
                rows: range.indices.map { index in
                    let place = index - range.lowerBound
                    return Row(
                        pass: passes[place].string, isFinished: finished[place].integer == 1,
                        holder: holders[place].string, failures: failures[place].string,
                        isWaiting: waiting[place].integer == 1)
                })
        }
    }
}
