public import ReelCore

/// A job as it is published: what claiming and fairness need to know of it, and nothing that the store holds.
public struct PublishedJob: Codable, Hashable, Sendable {
    public var id: JobID
    /// Path or name of the source, for people.
    public var source: String
    /// Frames of video that the output shows.
    public var frames: Int
    /// Passes without the assembly, whose index is this number.
    public var passCount: Int
    /// Bytes of memory that a slot must have free.
    public var need: Int64
    /// Builds of the encoders that the job uses: a worker must have them all.
    public var encoders: [String]
    public var protocolVersion: Int
    /// Share of the work among jobs; 1 is normal.
    public var weight: Double
    /// Time to encode a frame, where decoding one takes 1.
    public var encodingEffort: Double
    public var diagnostics: [Diagnostic]
    /// The number of the plan that its passes are of; 0 as long as it is probing.
    public var plan: Int

    /// The probe's index: it makes index and plan, before there are passes.
    public static let probeIndex = -1

    /// As many passes as a job can have; more is no job.
    static let passCounts = 0...BoardPolicy.mostPasses

    /// What is stored. Never change one.
    enum CodingKeys: String, CodingKey {
        case id, source, frames, passCount, need, encoders, protocolVersion, weight, encodingEffort, diagnostics, plan
    }

    public init(
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

/// What a worker offers when it claims.
public struct WorkerOffer: Sendable {
    public var worker: WorkerID
    /// Bytes of memory that are free for one more pass.
    public var memoryFree: Int64
    public var encoders: [String]
    public var protocolVersion: Int

    public init(worker: WorkerID, memoryFree: Int64, encoders: [String], protocolVersion: Int) {
        self.worker = worker
        self.memoryFree = memoryFree
        self.encoders = encoders
        self.protocolVersion = protocolVersion
    }
}

/// A worker's name: host, process and a random part, so that a restarted one is another.
public struct WorkerID: Hashable, Codable, Sendable, CustomStringConvertible {
    public var text: String
    public init(_ text: String) { self.text = text }
    public var description: String { text }
    public init(from decoder: any Decoder) throws { text = try String(from: decoder) }
    public func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// A pass that a worker holds by lease.
public struct Claim: Hashable, Sendable {
    public var job: JobID
    /// The pass's place in the plan; `PublishedJob.passCount` for the assembly, `probeIndex` for the probe.
    public var index: Int
    public var pass: Pass
    /// Random: only its holder can complete, fail or release.
    public var token: String
    /// Bytes that it may take: the job's need, or twice that after the pass ran out of memory.
    public var need: Int64
    /// The number of the plan that the pass is of; 0 for the probe.
    public var plan: Int

    public init(job: JobID, index: Int, pass: Pass, token: String, need: Int64, plan: Int) {
        self.job = job
        self.index = index
        self.pass = pass
        self.token = token
        self.need = need
        self.plan = plan
    }
}

/// What became of one held pass at a beat.
public enum LeaseAnswer: String, Sendable {
    case ok
    /// Another worker may have it: kill the engine, throw the work away.
    case lost
    /// The job was cancelled.
    case cancel
}

/// What a worker tells with every beat.
public struct WorkerReport: Codable, Hashable, Sendable {
    public var worker: WorkerID
    public var host: String
    public var slots: Int
    /// Slots that took themselves out, since their engines crashed in one job after another.
    public var slotsOut: Int
    /// Bytes that its passes may take together.
    public var memoryTotal: Int64
    public var encoders: [String]
    public var protocolVersion: Int
    /// Why it claims nothing, or less than it could, for people: a full disk, slots that took themselves out.
    public var notes: [Diagnostic]
    public var held: [Held]

    /// As many slots as a worker can have.
    static let slotCounts = 0...1_000_000

    /// What is stored. Never change one.
    enum CodingKeys: String, CodingKey {
        case worker, host, slots, slotsOut, memoryTotal, encoders, protocolVersion, notes, held
    }

    public struct Held: Codable, Hashable, Sendable {
        public var job: JobID
        public var index: Int
        public var token: String
        /// The number of the plan that the pass is of.
        public var plan: Int
        /// Frames decoded and encoded so far.
        public var decoded: Int
        public var encoded: Int
        /// Chunks that were whole already when the pass was claimed.
        public var wholeChunks: Int

        enum CodingKeys: String, CodingKey {
            case job, index, token, plan, decoded, encoded
            case wholeChunks = "wholeRuns"
        }

        public init(job: JobID, index: Int, token: String, plan: Int, decoded: Int, encoded: Int, wholeChunks: Int) {
            self.job = job
            self.index = index
            self.token = token
            self.plan = plan
            self.decoded = decoded
            self.encoded = encoded
            self.wholeChunks = wholeChunks
        }
    }

    public init(
        worker: WorkerID, host: String, slots: Int, slotsOut: Int = 0, memoryTotal: Int64, encoders: [String],
        protocolVersion: Int, notes: [Diagnostic] = [], held: [Held]
    ) {
        self.worker = worker
        self.host = host
        self.slots = slots
        self.slotsOut = slotsOut
        self.memoryTotal = memoryTotal
        self.encoders = encoders
        self.protocolVersion = protocolVersion
        self.notes = notes
        self.held = held
    }
}

public struct BeatReply: Sendable {
    /// By token.
    public var answers: [String: LeaseAnswer]
    public var drain: Bool

    public init(answers: [String: LeaseAnswer], drain: Bool) {
        self.answers = answers
        self.drain = drain
    }
}

public enum CompleteAnswer: String, Sendable {
    case ok
    /// This very completion was applied before and its reply was lost.
    case duplicate
    /// Another worker's result was recorded first: this one's segments are garbage.
    case late
    case cancelled
}

/// What a failed attempt leads to.
public enum FailAnswer: String, Sendable {
    /// The pass will be tried again.
    case retry
    /// The same; it has crashed on two hosts by now, so that the job is at fault and not the worker.
    case jobAtFault = "job-at-fault"
    /// The job failed with this attempt.
    case jobFailed = "job-failed"
    /// The token was no longer valid.
    case late

    /// Whether the board knows by now that the job is at fault for what failed, and not the worker: what it crashes says
    /// nothing of the slot that it crashed in.
    public var blamesJob: Bool { self == .jobAtFault || self == .jobFailed }
}
