package import ReelCore

/// A job as the board holds it: what claiming and fairness need to know. The rest is in the store. It is stored as JSON,
/// so its properties keep their names.
package struct BoardJob: Codable, Hashable, Sendable {
    package var id: JobID
    /// The source's path or name, to be shown.
    package var source: String
    /// The number of video frames that the output shows; 0 while there is no plan.
    package var frames: Int
    /// The number of passes without the assembly, which is also the assembly's index.
    package var passCount: Int
    /// The number of passes of sound, which come first; the others are of video. Nil without a plan, and for a plan
    /// that release 0.1.0 published.
    package var audioPasses: Int?
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
    /// SHA-256 of that plan, in hexadecimal, by which a worker knows the plan of its store. Nil like `audioPasses`.
    package var planHash: String?

    /// The index of planning, which makes a job's index and plan before there are passes.
    package static let planningIndex = -1

    /// The numbers of passes that a job can have.
    static let passCounts = 0...BoardPolicy.mostPasses

    package init(
        id: JobID, source: String, frames: Int = 0, passCount: Int = 0, audioPasses: Int? = nil, need: Int64,
        encoders: [String] = [], protocolVersion: Int, weight: Double = 1, encodingEffort: Double = 1,
        diagnostics: [Diagnostic] = [], plan: Int = 0, planHash: String? = nil
    ) {
        self.id = id
        self.source = source
        self.frames = frames
        self.passCount = passCount
        self.audioPasses = audioPasses
        self.need = need
        self.encoders = encoders
        self.protocolVersion = protocolVersion
        self.weight = weight
        self.encodingEffort = encodingEffort
        self.diagnostics = diagnostics
        self.plan = plan
        self.planHash = planHash
    }
}

extension BoardJob {
    /// The work at an index; nil for a pass of a plan that release 0.1.0 published.
    package func work(at index: Int) -> Work? {
        if index < 0 { return .planning }
        return index < passCount ? audioPasses.map { index < $0 ? .audio : .video } : .assembly
    }

    /// The virtual time that one claim costs: the frames of the job's average pass, divided by its weight.
    var share: Double { Double(max(frames, 1)) / Double(max(passCount, 1)) / weight }

    /// The job as it is while probing, without what a plan decides.
    var withoutPlan: BoardJob {
        var bare = self
        (bare.frames, bare.passCount, bare.encoders, bare.plan, bare.diagnostics) = (0, 0, [], 0, [])
        (bare.audioPasses, bare.planHash, bare.encodingEffort) = (nil, nil, 1)
        return bare
    }

    /// Throws `.jobContradictory` for a job without an id or with a weight that is not above 0.
    func check() throws(ReelFailure) {
        try BoardJob.check(weight, of: id)
        guard !id.text.isEmpty else { throw ReelFailure(.jobContradictory(job: id, fault: .id)) }
    }

    static func check(_ weight: Double, of job: JobID) throws(ReelFailure) {
        guard weight.isFinite, weight > 0 else { throw ReelFailure(.jobContradictory(job: job, fault: .weight)) }
    }
}
