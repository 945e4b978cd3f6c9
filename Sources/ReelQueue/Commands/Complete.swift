internal import ReelCore

extension Command {
    /// Records a pass's result.
    struct Complete: BoardCommand {
        var claim: ReelQueue.Claim
        var worker: WorkerID
        var result: PassResult

        static let name = "complete"
        static let source = PackageResources.complete_lua

        func arguments(_ timing: BoardTiming) throws(ReelFailure) -> [String] {
            let statistics = result.statistics
            return [
                claim.job.text, String(claim.index), claim.token, worker.text, String(claim.plan),
                try JSON.text(result), try JSON.lines(result.diagnostics), String(statistics.framesDecoded),
                String(statistics.framesEncoded), String(statistics.peakRSS), timing.leaseText, timing.retentionText,
                String(Int(statistics.cpuSeconds * 1000)), String(statistics.outputBytes ?? 0),
            ]
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> CompleteAnswer { try reply.value() }
    }
}
