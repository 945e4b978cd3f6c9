package import ReelCore

/// A job as the board holds it: what claiming and fairness need to know. The rest is in the store.
package struct BoardJob: Codable, Hashable, Sendable {
    /// The job's id.
    package var id: JobID
    /// The source's path or name, to be shown.
    package var source: String
    /// The number of video frames that the output shows; 0 while there is no plan.
    package var frames: Int
    /// The number of passes without the assembly, which is also the assembly's index.
    package var passCount: Int
    /// Bytes of memory that a slot must have free.
    package var need: Int64
    /// The builds of the encoders that the job uses. A worker must have them all.
    package var encoders: [String]
    /// The version of the engine's protocol. A worker must have the same.
    package var protocolVersion: Int
    /// The job's share of the workers, above 0; 1 is normal.
    package var weight: Double
    /// The time to encode a frame, if decoding one takes 1.
    package var encodingEffort: Double
    /// What planning reported.
    package var diagnostics: [Diagnostic]
    /// The number of the plan that the passes belong to; 0 while there is none.
    package var plan: Int

    /// The index of planning, which makes a job's index and plan before there are passes.
    package static let planningIndex = -1

    /// The numbers of passes that a job can have.
    static let passCounts = 0...BoardPolicy.mostPasses

    // Names that are stored. Never change one.
    enum CodingKeys: String, CodingKey {
        case id, source, frames, passCount, need, encoders, protocolVersion, weight, encodingEffort, diagnostics, plan
    }

    package init(
        id: JobID, source: String, frames: Int = 0, passCount: Int = 0, need: Int64, encoders: [String] = [],
        protocolVersion: Int, weight: Double = 1, encodingEffort: Double = 1, diagnostics: [Diagnostic] = [],
        plan: Int = 0
    ) {
        self.id = id
        self.source = source
        self.frames = frames
        self.passCount = passCount
        self.need = need
        self.encoders = encoders
        self.protocolVersion = protocolVersion
        self.weight = weight
        self.encodingEffort = encodingEffort
        self.diagnostics = diagnostics
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

/// A worker's name: host, process and a random part, so that a restarted worker has another name.
package struct WorkerID: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The name.
    package var text: String
    /// Takes any text as a name.
    package init(_ text: String) { self.text = text }
    /// The name.
    package var description: String { text }
    /// Reads a name that is coded as a string.
    package init(from decoder: any Decoder) throws { text = try String(from: decoder) }
    /// Codes the name as a string.
    package func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

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

/// A worker's report with each beat.
package struct WorkerReport: Codable, Hashable, Sendable {
    /// The worker.
    package var worker: WorkerID
    /// The name of its host.
    package var host: String
    /// The number of its slots.
    package var slots: Int
    /// The number of slots that took themselves out, since their engines crashed in one job after another.
    package var slotsOut: Int
    /// Bytes of memory that its passes may take together.
    package var memoryTotal: Int64
    /// The builds of encoders that it has.
    package var encoders: [String]
    /// The version of the engine's protocol that it has.
    package var protocolVersion: Int
    /// Its release; nil if an earlier release reported, and so are the two that follow.
    package var version: String?
    /// The store in which it works, as it names it.
    package var store: String?
    /// Seconds since its start.
    package var uptime: Double?
    /// How its engines are confined; nil if an earlier release reported.
    package var sandbox: SandboxState?
    /// The folders from which it takes sources; nil for any.
    package var sourceRoots: SourceRoots?
    /// Why the worker claims nothing, or less than it could: a full disk, slots that took themselves out.
    package var notes: [Diagnostic]
    /// The passes that it holds.
    package var held: [Held]

    /// The numbers of slots that a worker can have.
    static let slotCounts = 0...1_000_000

    // Names that are stored. Never change one.
    enum CodingKeys: String, CodingKey {
        case worker, host, slots, slotsOut, memoryTotal, encoders, protocolVersion, version, store, uptime, sandbox,
            sourceRoots
        case notes, held
    }

    /// A pass that the worker holds, with its progress.
    package struct Held: Codable, Hashable, Sendable {
        /// The pass's job.
        package var job: JobID
        /// The pass's index, as in `Claim.index`.
        package var index: Int
        /// The token of the claim.
        package var token: String
        /// The number of the plan that the pass belongs to.
        package var plan: Int
        /// The number of frames decoded so far.
        package var decoded: Int
        /// The number of frames encoded so far.
        package var encoded: Int
        /// The number of chunks that were whole already when the pass was claimed.
        package var wholeChunks: Int

        enum CodingKeys: String, CodingKey {
            case job, index, token, plan, decoded, encoded
            case wholeChunks = "wholeRuns"
        }

        package init(job: JobID, index: Int, token: String, plan: Int, decoded: Int, encoded: Int, wholeChunks: Int) {
            self.job = job
            self.index = index
            self.token = token
            self.plan = plan
            self.decoded = decoded
            self.encoded = encoded
            self.wholeChunks = wholeChunks
        }
    }

    package init(
        worker: WorkerID, host: String, slots: Int, slotsOut: Int = 0, memoryTotal: Int64, encoders: [String],
        protocolVersion: Int, version: String? = nil, store: String? = nil, uptime: Double? = nil,
        sandbox: SandboxState? = nil, sourceRoots: SourceRoots? = nil, notes: [Diagnostic] = [],
        held: [Held]
    ) {
        self.worker = worker
        self.host = host
        self.slots = slots
        self.slotsOut = slotsOut
        self.memoryTotal = memoryTotal
        self.encoders = encoders
        self.protocolVersion = protocolVersion
        self.version = version
        self.store = store
        self.uptime = uptime
        self.sandbox = sandbox
        self.sourceRoots = sourceRoots
        self.notes = notes
        self.held = held
    }
}

/// What a user drains.
package enum DrainScope: String, Codable, Sendable {
    /// One worker, until it ends.
    case worker
    /// A host: its workers, also the ones that start there later.
    case host
}
