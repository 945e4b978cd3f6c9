internal import ReelCore

extension Command {
    /// Makes a job and leases its planning, or answers with the job that is there already.
    struct Begin: BoardCommand {
        /// The job without a plan.
        var job: BoardJob
        var token: String
        var holder: WorkerID

        static let name = "begin"
        static let source = PackageResources.begin_lua

        func arguments(_ timing: BoardTiming) throws(ReelFailure) -> [String] {
            [
                job.id.text, try JSON.text(job), String(job.need), String(job.protocolVersion), String(job.share),
                timing.retentionText, timing.leaseText, token, holder.text,
            ]
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> Begun {
            switch reply {
            case .integer(let need):
                .begun(
                    ReelQueue.Claim(
                        job: job.id, index: BoardJob.planningIndex, work: .planning, token: token, need: Int64(need),
                        plan: 0))
            case .string("probing"): .probing
            case .string("running"): .running
            case .string("busy"): .busy
            default: throw reply.surprise
            }
        }
    }
}
