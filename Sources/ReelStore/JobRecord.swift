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
    /// Of the source when it was read by recon.
    public var fingerprint: Fingerprint
    /// Share of the work among jobs; 1 is normal.
    public var weight: Double
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
        id: JobID, spec: JobSpec, source: String, fingerprint: Fingerprint, weight: Double = 1, created: Double
    ) {
        self.id = id
        self.spec = spec
        self.source = source
        self.fingerprint = fingerprint
        self.weight = weight
        self.paused = false
        self.created = created
    }
}
