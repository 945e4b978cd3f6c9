internal import ReelCore

extension Command {
    /// Writes a job's totals. False if the number of finished passes has changed meanwhile.
    struct Tally: BoardCommand {
        var job: JobID
        var finished: Int
        var totals: Totals

        static let name = "tally"
        static let source = PackageResources.tally_lua

        func arguments(_ timing: BoardTiming) -> [String] {
            [job.text] + [finished, totals.decoded, totals.encoded, Int(totals.peak), totals.cpu].map(String.init)
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> Bool { try reply.flag() }
    }
}
