package import ReelCore

/// The contents of `job.json`: a job as it was asked for, and how it ended, if it has.
///
/// The board alone decides how a job ends, and the record follows it: `JobEntry.settle`. That a job runs again, or is paused, is
/// written here before Redis learns of it, so that this is not lost with the board.
package struct JobRecord: Hashable, Sendable {
    /// Grows when the meaning of a record changes.
    package static let version = 2

    /// The job's identity, and the name of its folder.
    package var id: JobID
    /// The request.
    package var spec: JobSpec
    /// The files that it is made of; at least one.
    package var sources: [JobSource]
    /// Its terms; the output does not depend on them.
    package var terms: JobTerms
    /// What the submitter says of it; nil in records of release 0.1.0, and of jobs that no user submitted.
    package var submission: Submission?
    /// URLs that are told of the job's end: those of the submissions that began it or resumed it. The board may have more.
    package var webhooks: [String] = []
    /// Nil until the job has ended: until then the board has the state.
    package var state: JobState?
    /// Whether the job is paused: none of its passes may be claimed.
    package var paused: Bool
    /// The verified output; nil until there is one.
    package var result: JobResult?
    /// Why the job failed, if it has.
    package var failure: ReelFailure?
    /// Seconds since 1970.
    package var created: Double
    /// Seconds since 1970; nil until the job has ended.
    package var finished: Double?
    /// Grows with every change, so that of two processes that change the same record at once one sees the other's change.
    package internal(set) var revision = 0

    /// A job that has not ended. It is a programming error if it has no source.
    package init(
        id: JobID, spec: JobSpec, sources: [JobSource], terms: JobTerms = JobTerms(),
        submission: Submission? = nil, created: Double
    ) {
        precondition(!sources.isEmpty, "a job is made of files")
        self.id = id
        self.spec = spec
        self.sources = sources
        self.terms = terms
        self.submission = submission
        self.paused = false
        self.created = created
    }

    /// The first of the files that it is made of, by which people know the job.
    package var source: JobSource { sources[0] }

    /// Marks the job as ended.
    ///
    /// - Parameter now: seconds since 1970.
    package mutating func end(_ state: JobState, _ failure: ReelFailure? = nil, at now: Double) {
        (self.state, self.failure, finished) = (state, failure, now)
    }

    /// Marks the job as not ended, so that it can run again. That counts as a change even if the job had not ended: a process
    /// that is about to write an end from before does not write it then.
    package mutating func reopen() {
        if state != nil { paused = false }
        (state, result, failure, finished) = (nil, nil, nil, nil)
        revision &+= 1
    }
}

/// A file that a job is made of.
package struct JobSource: Hashable, Codable, Sendable {
    /// Absolute path.
    package var path: String
    /// Name of the copy in the job folder, nil if workers read the file itself.
    package var staged: String?
    /// Taken when the job was submitted.
    package var fingerprint: Fingerprint

    /// A source at an absolute path.
    package init(path: String, staged: String? = nil, fingerprint: Fingerprint) {
        self.path = path
        self.staged = staged
        self.fingerprint = fingerprint
    }

    /// The place of the source itself, whether or not the store has a copy.
    package var original: Locator { .file(path) }

    package enum CodingKeys: String, CodingKey {
        case path, staged, fingerprint
    }
}

/// Terms of a job that do not change its output.
package struct JobTerms: Hashable, Codable, Sendable {
    /// Share of the work among jobs, within `weights`; 1 is normal.
    package var weight: Double
    /// The valid values of `weight`.
    package static let weights = 0.001...1000.0
    /// Seconds for which the store keeps the job after its end.
    package var retain: Double
    /// Whether segments stay after the job is done.
    package var keepsSegments: Bool
    /// Absolute path where the submitter wants the result; nil in records of release 0.1.0.
    package var output: String?

    /// The usual: weight 1, a week, without segments.
    package init(
        weight: Double = 1, retain: Double = 7 * 24 * 3600, keepsSegments: Bool = false, output: String? = nil
    ) {
        self.weight = weight
        self.retain = retain
        self.keepsSegments = keepsSegments
        self.output = output
    }

    package enum CodingKeys: String, CodingKey {
        case weight, retain, keepsSegments, output
    }
}
