package import ReelCore

/// What a worker claims. The board's functions know no more of a pass than this; the plan in the store has the rest.
/// The raw values are stored.
package enum Work: String, Hashable, Sendable {
    /// Makes the segments of a pass of video.
    case video
    /// Makes the segment of an audio track.
    case audio
    /// Joins the segments of all passes.
    case assembly
    /// Makes the index and the plan of a job that has none.
    case planning = "probe"
}

/// Work that a worker holds under a lease. Comments of the board say *pass* for assemblies and planning, too.
package struct Claim: Hashable, Sendable {
    package var job: JobID
    /// The pass's place in the plan; `BoardJob.passCount` for the assembly, `BoardJob.planningIndex` for planning.
    package var index: Int
    package var work: Work
    /// A random text that names this claim. Only its holder can complete, fail or release the pass.
    package var token: String
    /// Bytes of memory that the pass may take: the job's need, or twice that after the pass ran out of memory.
    package var need: Int64
    /// The number of the plan that the pass belongs to; 0 for planning.
    package var plan: Int
    /// The hash of that plan, as `BoardJob.planHash`; empty for planning.
    package var planHash: String

    package init(job: JobID, index: Int, work: Work, token: String, need: Int64, plan: Int, planHash: String = "") {
        self.job = job
        self.index = index
        self.work = work
        self.token = token
        self.need = need
        self.plan = plan
        self.planHash = planHash
    }
}

/// A worker's offer when it claims: its memory, encoders and the like.
package struct WorkerOffer: Sendable {
    package var worker: WorkerID
    /// Bytes of memory that are free for one more pass.
    package var memoryFree: Int64
    package var encoders: [String]
    package var protocolVersion: Int

    package init(worker: WorkerID, memoryFree: Int64, encoders: [String], protocolVersion: Int) {
        self.worker = worker
        self.memoryFree = memoryFree
        self.encoders = encoders
        self.protocolVersion = protocolVersion
    }
}

extension RedisBoard {
    package func claim(_ offer: WorkerOffer) throws(ReelFailure) -> Claim? {
        let token = RedisBoard.makeToken()
        var rank = 0
        while true {
            let reply = try transition([
                "claim", offer.worker.text, String(offer.memoryFree), String(offer.protocolVersion),
                offer.encoders.joined(separator: "\n"), timing.leaseText, token, String(rank), timing.retentionText,
            ])
            switch reply {
            case .none: return nil
            case .integer(let next): rank = next
            default: return try claimed(reply, token, offer)
            }
        }
    }

    private func claimed(_ reply: Reply, _ token: String, _ offer: WorkerOffer) throws(ReelFailure) -> Claim {
        var parts = try ReplyReader(reply)
        let (job, index, work) = (JobID(try parts.text()), try parts.integer(), try parts.value() as Work)
        let (hash, need, plan) = (try parts.text(), try parts.integer(), try parts.integer())
        try parts.end()
        guard need > 0, Int64(need) <= offer.memoryFree, plan >= 0,
            work == .planning ? index == BoardJob.planningIndex : index >= 0
        else { throw reply.surprise }
        return Claim(
            job: job, index: index, work: work, token: token, need: Int64(need), plan: plan, planHash: hash)
    }

    package func release(_ claim: Claim) throws(ReelFailure) {
        _ = try transition(["release", claim.job.text, String(claim.index), claim.token, String(claim.plan)]).flag()
    }

    package func waitForWork(seconds: Int) throws(ReelFailure) {
        let wait = blocking(.seconds(seconds))
        guard wait > 0 else { return }
        try send(["BLPOP", keys[.wake], String(Double(wait) / 1000)])
    }

    package func checkWorker() throws(ReelFailure) {
        // The one plain command that a worker repeats. If this takes a hint, another worker waits a second longer.
        try send(["BLPOP", keys[.wake], "0.001"])
    }

    /// 128 random bits in hexadecimal.
    static func makeToken() -> String {
        Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    }
}
