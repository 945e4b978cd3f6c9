internal import ReelCore

extension Command {
    /// A page of the jobs that have not ended, counted by state, and their passes.
    struct Backlog: BoardCommand {
        /// Where the page before ended.
        var place = Place(created: "-inf", skipped: 0)

        struct Place {
            /// When the last job of the page was created, in milliseconds since 1970, as Redis writes it.
            var created: String
            /// The number of jobs of that time that were on this page or earlier ones.
            var skipped: Int
        }

        struct Answer {
            /// Without jobs that have ended.
            var jobs = BoardFigures.Jobs()
            var passes = BoardFigures.Passes()
            /// Seconds for which the oldest ready pass has waited; nil if none is ready.
            var oldestReady: Double?
            /// Nil after the last page.
            var next: Place?
        }

        static let name = "backlog"
        static let source = PackageResources.backlog_lua
        static let isReadOnly = true

        func arguments(_ timing: BoardTiming) -> [String] { [place.created, String(place.skipped)] }

        func answer(_ reply: Reply) throws(ReelFailure) -> Answer {
            var parts = try ReplyReader(reply)
            var answer = Answer()
            answer.jobs = BoardFigures.Jobs(
                probing: try parts.integer(), running: try parts.integer(), assembling: try parts.integer(),
                paused: try parts.integer(), unreadable: try parts.integer())
            answer.passes = BoardFigures.Passes(
                ready: try parts.integer(), live: try parts.integer(), retrying: try parts.integer(),
                paused: try parts.integer(), done: try parts.integer())
            let (since, now) = (Double(try parts.text()), Double(try parts.integer()))
            answer.oldestReady = since.map { max(0, now - $0) / 1000 }
            let next = Place(created: try parts.text(), skipped: try parts.integer())
            answer.next = next.created.isEmpty ? nil : next
            try parts.end()
            return answer
        }
    }
}
