internal import ReelCore

extension Command {
    /// The work done in each minute of the last hour.
    struct Rates: BoardCommand {
        struct Answer {
            /// "minute frames passes" each, and slots of other lengths.
            var slots: [String: String]
            /// Redis's time in milliseconds since 1970.
            var now: Int
        }

        static let name = "rates"
        static let source = PackageResources.rates_lua
        static let isReadOnly = true

        func arguments(_ timing: BoardTiming) -> [String] { [] }

        func answer(_ reply: Reply) throws(ReelFailure) -> Answer {
            var parts = try ReplyReader(reply)
            let answer = Answer(slots: try parts.dictionary(), now: try parts.integer())
            try parts.end()
            return answer
        }
    }
}
