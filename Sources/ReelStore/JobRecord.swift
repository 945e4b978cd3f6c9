public import ReelCore

/// What `job.json` holds: a job as it was asked for, and how it ended, if it has.
///
/// Terminal states and pause are written here before Redis learns of them, so that nothing cancelled revives when
/// the board is rebuilt.
public struct JobRecord: Hashable, Codable, Sendable {
    /// The job's identity, and the name of its folder.
    public var id: JobID
    /// What was asked for.
    public var spec: JobSpec
    /// Absolute path of the source.
    public var source: String
    /// Name of the copy of the source in the job folder, nil where workers read the source itself.
    public var staged: String?
    /// Of the source when it was read by recon.
    public var fingerprint: Fingerprint
    /// The job that began with the source's head while recon read the rest: its segments are this job's, too.
    public var head: JobID?
    /// Builds of the encoders that workers must have.
    public var encoders: [String]
    /// How it is to be treated; the output does not depend on it.
    public var terms: JobTerms
    /// Nil until the job has ended: before that, the board knows.
    public var state: JobState?
    /// Whether no pass may be claimed for now.
    public var paused: Bool
    /// Why the job failed, where it has.
    public var failure: ReelFailure?
    /// Seconds since 1970.
    public var created: Double
    /// Seconds since 1970; nil until the job has ended.
    public var finished: Double?

    /// A job that has not ended.
    public init(
        id: JobID, spec: JobSpec, source: String, staged: String? = nil, fingerprint: Fingerprint,
        head: JobID? = nil, encoders: [String], terms: JobTerms = JobTerms(), created: Double
    ) {
        self.id = id
        self.spec = spec
        self.source = source
        self.fingerprint = fingerprint
        self.staged = staged
        self.head = head
        self.encoders = encoders
        self.terms = terms
        self.paused = false
        self.created = created
    }

    /// The job has not ended any more: somebody wants it to run again.
    public mutating func reopen() { (state, failure, finished) = (nil, nil, nil) }
}

/// How a job is to be treated, beside what its output is to be.
public struct JobTerms: Hashable, Codable, Sendable {
    /// Share of the work among jobs; 1 is normal.
    public var weight: Double
    /// Seconds for which the store keeps the job after its end.
    public var retain: Double
    /// Segments stay after the job is done.
    public var keepsSegments: Bool

    /// The usual: weight 1, a week, without segments.
    public init(weight: Double = 1, retain: Double = 7 * 24 * 3600, keepsSegments: Bool = false) {
        self.weight = weight
        self.retain = retain
        self.keepsSegments = keepsSegments
    }
}
