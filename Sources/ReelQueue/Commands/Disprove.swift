internal import ReelCore

extension Command {
    /// Has a job planned again whose plan has proved wrong. False if the claim does not hold the pass any more.
    struct Disprove: BoardCommand {
        var claim: ReelQueue.Claim
        var worker: WorkerID
        /// The job without a plan.
        var job: BoardJob

        static let name = "disprove"
        static let source = PackageResources.disprove_lua

        func arguments(_ timing: BoardTiming) throws(ReelFailure) -> [String] {
            [
                claim.job.text, String(claim.index), claim.token, worker.text, String(claim.plan),
                try JSON.text(job), String(job.need), String(job.share),
            ]
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> Bool {
            switch try reply.text() {
            case "probing": true
            case "late": false
            default: throw reply.surprise
            }
        }
    }
}
