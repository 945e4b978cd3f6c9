internal import ReelCore

extension Command {
    /// Leases a pass for a worker.
    struct Claim: BoardCommand {
        var offer: WorkerOffer
        var token: String
        /// The rank in the key `run` to begin at.
        var rank: Int

        enum Answer {
            /// There is nothing for this worker.
            case nothing
            /// The call looked at enough jobs: ask again from this rank.
            case from(rank: Int)
            /// A claim whose work is still to be read: it is given apart as stored, since a pass that cannot be read is
            /// the fault of that job alone.
            case claimed(ReelQueue.Claim, kind: WorkKind, stored: String)
        }

        static let name = "claim"
        static let source = PackageResources.claim_lua

        func arguments(_ timing: BoardTiming) -> [String] {
            [
                offer.worker.text, String(offer.memoryFree), String(offer.protocolVersion),
                offer.encoders.joined(separator: "\n"), timing.leaseText, token, String(rank), timing.retentionText,
            ]
        }

        func answer(_ reply: Reply) throws(ReelFailure) -> Answer {
            switch reply {
            case .none: return .nothing
            case .integer(let next): return .from(rank: next)
            default: break
            }
            var parts = try ReplyReader(reply)
            let (job, index, kind) = (JobID(try parts.text()), try parts.integer(), try parts.value() as WorkKind)
            let (pass, need, plan) = (try parts.text(), try parts.integer(), try parts.integer())
            try parts.end()
            guard need > 0, Int64(need) <= offer.memoryFree, plan >= 0,
                kind == .planning ? index == BoardJob.planningIndex : index >= 0
            else { throw reply.surprise }
            let claim = ReelQueue.Claim(
                job: job, index: index, work: .assembly, token: token, need: Int64(need), plan: plan)
            return .claimed(claim, kind: kind, stored: pass)
        }
    }
}
