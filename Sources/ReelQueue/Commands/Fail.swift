internal import ReelCore

extension Command {
    /// Gives back a pass after a failed attempt.
    struct Fail: BoardCommand {
        var claim: ReelQueue.Claim
        var worker: WorkerID
        var failure: ReelFailure
        var cause: FailureCause

        static let name = "fail"
        static let source = PackageResources.fail_lua

        func arguments(_ timing: BoardTiming) throws(ReelFailure) -> [String] {
            [
                claim.job.text, String(claim.index), claim.token, worker.text, String(claim.plan), cause.rawValue,
                try JSON.text(failure), timing.leaseText, String(timing.backoff.milliseconds), timing.retentionText,
            ]
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> FailAnswer { try reply.value() }
    }
}
