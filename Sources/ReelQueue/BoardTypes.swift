public import ReelCore

/// A job as the board holds it: what claiming and fairness need to know. The rest is in the store.
public struct BoardJob: Codable, Hashable, Sendable {
    /// The job's id.
    public var id: JobID
    /// The source's path or name, to be shown.
    public var source: String
    /// The number of video frames that the output shows; 0 while there is no plan.
    public var frames: Int
    /// The number of passes without the assembly, which is also the assembly's index.
    public var passCount: Int
    /// Bytes of memory that a slot must have free.
    public var need: Int64
    /// The builds of the encoders that the job uses. A worker must have them all.
    public var encoders: [String]
    /// The version of the engine's protocol. A worker must have the same.
    public var protocolVersion: Int
    /// The job's share of the workers, above 0; 1 is normal.
    public var weight: Double
    /// The time to encode a frame, if decoding one takes 1.
    public var encodingEffort: Double
    /// What planning reported.
    public var diagnostics: [Diagnostic]
    /// The number of the plan that the passes belong to; 0 while there is none.
    public var plan: Int

    /// The index of planning, which makes a job's index and plan before there are passes.
    public static let planningIndex = -1

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
public struct WorkerOffer: Sendable {
    /// The worker.
    public var worker: WorkerID
    /// Bytes of memory that are free for one more pass.
    public var memoryFree: Int64
    /// The builds of encoders that the worker has.
    public var encoders: [String]
    /// The version of the engine's protocol that the worker has.
    public var protocolVersion: Int

    package init(worker: WorkerID, memoryFree: Int64, encoders: [String], protocolVersion: Int) {
        self.worker = worker
        self.memoryFree = memoryFree
        self.encoders = encoders
        self.protocolVersion = protocolVersion
    }
}

/// A worker's name: host, process and a random part, so that a restarted worker has another name.
public struct WorkerID: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The name.
    public var text: String
    /// Takes any text as a name.
    public init(_ text: String) { self.text = text }
    /// The name.
    public var description: String { text }
    /// Reads a name that is coded as a string.
    public init(from decoder: any Decoder) throws { text = try String(from: decoder) }
    /// Codes the name as a string.
    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// What a worker claims, and what it does between two claims.
public enum Work: Hashable, Sendable {
    /// Makes the segments of a pass that the job's plan lists.
    case pass(Pass)
    /// Joins the segments of all passes.
    case assembly
    /// Makes the index and the plan of a job that has none. The board, JSON and the log name it with the older word
    /// `probe`, which is stored.
    case planning

    /// The pass; nil for work that no plan lists.
    public var pass: Pass? { if case .pass(let pass) = self { pass } else { nil } }
}

/// Work that a worker holds under a lease. Comments of the board say *pass* for assemblies and planning, too.
public struct Claim: Hashable, Sendable {
    /// The pass's job.
    public var job: JobID
    /// The pass's place in the plan; `BoardJob.passCount` for the assembly, `BoardJob.planningIndex` for planning.
    public var index: Int
    /// What is to be done.
    public var work: Work
    /// A random text that names this claim. Only its holder can complete, fail or release the pass.
    public var token: String
    /// Bytes of memory that the pass may take: the job's need, or twice that after the pass ran out of memory.
    public var need: Int64
    /// The number of the plan that the pass belongs to; 0 for planning.
    public var plan: Int

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
public struct WorkerReport: Codable, Hashable, Sendable {
    /// The worker.
    public var worker: WorkerID
    /// The name of its host.
    public var host: String
    /// The number of its slots.
    public var slots: Int
    /// The number of slots that took themselves out, since their engines crashed in one job after another.
    public var slotsOut: Int
    /// Bytes of memory that its passes may take together.
    public var memoryTotal: Int64
    /// The builds of encoders that it has.
    public var encoders: [String]
    /// The version of the engine's protocol that it has.
    public var protocolVersion: Int
    /// Its release; nil if an earlier release reported, and so are the two that follow.
    public var version: String?
    /// The store in which it works, as it names it.
    public var store: String?
    /// Seconds since its start.
    public var uptime: Double?
    /// How its engines are confined; nil if an earlier release reported.
    public var sandbox: SandboxState?
    /// The folders from which it takes sources; nil for any.
    public var sourceRoots: SourceRoots?
    /// Why the worker claims nothing, or less than it could: a full disk, slots that took themselves out.
    public var notes: [Diagnostic]
    /// The passes that it holds.
    public var held: [Held]

    /// The numbers of slots that a worker can have.
    static let slotCounts = 0...1_000_000

    // Names that are stored. Never change one.
    enum CodingKeys: String, CodingKey {
        case worker, host, slots, slotsOut, memoryTotal, encoders, protocolVersion, version, store, uptime, sandbox,
            sourceRoots
        case notes, held
    }

    /// A pass that the worker holds, with its progress.
    public struct Held: Codable, Hashable, Sendable {
        /// The pass's job.
        public var job: JobID
        /// The pass's index, as in `Claim.index`.
        public var index: Int
        /// The token of the claim.
        public var token: String
        /// The number of the plan that the pass belongs to.
        public var plan: Int
        /// The number of frames decoded so far.
        public var decoded: Int
        /// The number of frames encoded so far.
        public var encoded: Int
        /// The number of chunks that were whole already when the pass was claimed.
        public var wholeChunks: Int

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
public enum DrainScope: String, Codable, Sendable {
    /// One worker, until it ends.
    case worker
    /// A host: its workers, also the ones that start there later.
    case host
}
