internal import ReelCore

extension Command {
    /// The counters of the whole board, its ended jobs by state, and the slots of its workers by state.
    struct Figures: BoardCommand {
        struct Answer {
            /// The totals of each.
            var counters: [String: [Int]]
            var done, failed, cancelled: Int
            var workers: Int
            var slots: BoardFigures.Slots
        }

        static let name = "figures"
        static let source = PackageResources.figures_lua
        static let isReadOnly = true

        func arguments(_ timing: BoardTiming) -> [String] { [timing.leaseText, timing.retentionText] }

        func answer(_ reply: Reply) throws(ReelFailure) -> Answer {
            var parts = try ReplyReader(reply)
            // What is no total counts as none.
            let counters = try parts.dictionary().mapValues { totals in
                totals.split(separator: " ").map { Int($0).flatMap { Totals.counts.contains($0) ? $0 : nil } ?? 0 }
            }
            let answer = Answer(
                counters: counters, done: try parts.integer(), failed: try parts.integer(),
                cancelled: try parts.integer(), workers: try parts.integer(),
                slots: BoardFigures.Slots(
                    busy: try parts.integer(), free: try parts.integer(), out: try parts.integer(),
                    drained: try parts.integer()))
            try parts.end()
            return answer
        }
    }
}
