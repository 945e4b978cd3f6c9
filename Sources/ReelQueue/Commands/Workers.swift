internal import ReelCore

extension Command {
    /// Who has beaten within the last hour, and since when each holds what it holds.
    struct Workers: BoardCommand {
        struct Answer {
            var workers: [Worker] = []
            /// Milliseconds since 1970.
            var now = 0
        }

        struct Worker {
            /// As JSON.
            var report: String
            /// The last one, in milliseconds since 1970.
            var beat: Int
            var isDraining: Bool
            var holds: [Hold] = []
        }

        struct Hold {
            var token: String
            /// Milliseconds since 1970.
            var started: Int
            var kind: PassKind
            /// The pass as JSON.
            var stored: String
        }

        static let name = "workers"
        static let source = PackageResources.workers_lua
        static let isLook = true

        func arguments(_ timing: BoardTiming) -> [String] { [] }

        func answer(_ reply: Reply) throws(ReelFailure) -> Answer {
            guard let entries = reply.array, let now = entries.last?.integer else { throw reply.surprise }
            var answer = Answer(now: now)
            for entry in entries.dropLast() {
                var parts = try ReplyReader(entry)
                var worker = Worker(
                    report: try parts.text(), beat: try parts.integer(), isDraining: try parts.integer() == 1)
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
