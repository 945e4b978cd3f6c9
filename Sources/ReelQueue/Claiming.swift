package import ReelCore

/// What a worker claims, and what it does between two claims.
package enum Work: Hashable, Sendable {
    /// Makes the segments of a pass that the job's plan lists.
    case pass(Pass)
    /// Joins the segments of all passes.
    case assembly
    /// Makes the index and the plan of a job that has none. The board, JSON and the log name it with the older word
    /// `probe`, which is stored.
    case planning

    /// The pass; nil for work that no plan lists.
    package var pass: Pass? { if case .pass(let pass) = self { pass } else { nil } }
}

/// Work that a worker holds under a lease. Comments of the board say *pass* for assemblies and planning, too.
package struct Claim: Hashable, Sendable {
    /// The pass's job.
    package var job: JobID
    /// The pass's place in the plan; `BoardJob.passCount` for the assembly, `BoardJob.planningIndex` for planning.
    package var index: Int
    /// What is to be done.
    package var work: Work
    /// A random text that names this claim. Only its holder can complete, fail or release the pass.
    package var token: String
    /// Bytes of memory that the pass may take: the job's need, or twice that after the pass ran out of memory.
    package var need: Int64
    /// The number of the plan that the pass belongs to; 0 for planning.
    package var plan: Int

    package init(job: JobID, index: Int, work: Work, token: String, need: Int64, plan: Int) {
        self.job = job
        self.index = index
        self.work = work
        self.token = token
        self.need = need
        self.plan = plan
    }
}

/// A worker's offer when it claims: its memory, encoders and the like.
package struct WorkerOffer: Sendable {
    /// The worker.
    package var worker: WorkerID
    /// Bytes of memory that are free for one more pass.
    package var memoryFree: Int64
    /// The builds of encoders that the worker has.
    package var encoders: [String]
    /// The version of the engine's protocol that the worker has.
    package var protocolVersion: Int

    package init(worker: WorkerID, memoryFree: Int64, encoders: [String], protocolVersion: Int) {
        self.worker = worker
        self.memoryFree = memoryFree
        self.encoders = encoders
        self.protocolVersion = protocolVersion
    }
}

/// The kind of work, which is all that the board's functions know of it.
enum WorkKind: String {
    case video, audio, assembly
    case planning = "probe"

    init(_ pass: Pass) {
        switch pass {
        case .video: self = .video
        case .audio: self = .audio
        }
    }

    /// The work of this kind.
    ///
    /// - Parameter text: the pass as JSON; ignored for assembly and planning.
    func work(_ text: String) throws(ReelFailure) -> Work {
        switch self {
        case .video, .audio: .pass(try JSON.value(text))
        case .assembly: .assembly
        case .planning: .planning
        }
    }
}

extension RedisBoard {
    package func claim(_ offer: WorkerOffer) throws(ReelFailure) -> Claim? {
        let token = RedisBoard.makeToken()
        var rank = 0
        while true {
            let reply = try transition(
                "claim",
                [
                    offer.worker.text, String(offer.memoryFree), String(offer.protocolVersion),
                    offer.encoders.joined(separator: "\n"), timing.leaseText, token, String(rank),
                    timing.retentionText,
                ])
            switch reply {
            case .none: return nil
            case .integer(let next): rank = next
            default: return try claimed(reply, token, offer)
            }
        }
    }

    /// Reads a claim. Nil if its pass cannot be read: only that job is at fault, so it is failed, and the worker goes
    /// on with others.
    private func claimed(_ reply: Reply, _ token: String, _ offer: WorkerOffer) throws(ReelFailure) -> Claim? {
        var parts = try ReplyReader(reply)
        let (job, index, kind) = (JobID(try parts.text()), try parts.integer(), try parts.value() as WorkKind)
        let (stored, need, plan) = (try parts.text(), try parts.integer(), try parts.integer())
        try parts.end()
        guard need > 0, Int64(need) <= offer.memoryFree, plan >= 0,
            kind == .planning ? index == BoardJob.planningIndex : index >= 0
        else { throw reply.surprise }
        var claim = Claim(job: job, index: index, work: .assembly, token: token, need: Int64(need), plan: plan)
        do throws(ReelFailure) {
            claim.work = try kind.work(stored)
        } catch {
            guard (try? fail(claim, worker: offer.worker, failure: error, as: .permanent)) != nil else { throw error }
            return nil
        }
        return claim
    }

    package func release(_ claim: Claim) throws(ReelFailure) {
        _ = try transition(
            "release", [claim.job.text, String(claim.index), claim.token, String(claim.plan)]
        ).flag()
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
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
