internal import ReelCore

extension Command {
    /// The workers in the registry, and since when each holds its passes.
    struct Workers: BoardCommand {
        struct Answer {
            var workers: [Worker] = []
            /// Redis's time in milliseconds since 1970.
            var now = 0
        }

        struct Worker {
            /// The worker's report as JSON.
            var report: String
            /// The time of the last beat, in milliseconds since 1970.
            var beat: Int
            var drained: DrainScope?
            var holds: [Hold] = []
        }

        struct Hold {
            var token: String
            /// When the pass was claimed, in milliseconds since 1970.
            var started: Int
            var kind: WorkKind
            /// The pass as JSON; ignored for other work.
            var stored: String
        }

        static let name = "workers"
        static let source = PackageResources.workers_lua
        static let isReadOnly = true

        func arguments(_ timing: BoardTiming) -> [String] { [] }

        func answer(_ reply: Reply) throws(ReelFailure) -> Answer {
            guard let entries = reply.array, let now = entries.last?.integer else { throw reply.surprise }
            var answer = Answer(now: now)
            for entry in entries.dropLast() {
                var parts = try ReplyReader(entry)
                var worker = Worker(
                    report: try parts.text(), beat: try parts.integer(), drained: try parts.drained())
                while !parts.isAtEnd {
                    worker.holds.append(
                        Hold(
                            token: try parts.text(), started: try parts.integer(), kind: try parts.value(),
                            stored: try parts.text()))
                }
                answer.workers.append(worker)
            }
            return answer
        }
    }
}
