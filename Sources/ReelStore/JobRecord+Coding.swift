internal import ReelCore

/// Written and read in one version, which the record names.
extension JobRecord: Codable {
    package enum CodingKeys: String, CodingKey {
        case version, id, spec, sources, terms, submission, webhooks, state, paused, result, failure, created, finished
        case revision
    }

    /// Throws `ReelFailure` `.jobOfOtherVersion` for a version that this release does not know.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let version = try container.decode(Int.self, forKey: .version)
        guard version == JobRecord.version else {
            throw ReelFailure(.jobOfOtherVersion(found: version, known: JobRecord.version))
        }
        let sources = try container.decode([JobSource].self, forKey: .sources)
        guard !sources.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .sources, in: container, debugDescription: "a job is made of files")
        }
        self.init(
            id: try container.decode(JobID.self, forKey: .id), spec: try container.decode(JobSpec.self, forKey: .spec),
            sources: sources, terms: try container.decode(JobTerms.self, forKey: .terms),
            submission: try container.decodeIfPresent(Submission.self, forKey: .submission),
            created: try container.decode(Double.self, forKey: .created))
        webhooks = try container.decodeIfPresent([String].self, forKey: .webhooks) ?? []
        state = try container.decodeIfPresent(JobState.self, forKey: .state)
        paused = try container.decode(Bool.self, forKey: .paused)
        result = try container.decodeIfPresent(JobResult.self, forKey: .result)
        failure = try container.decodeIfPresent(ReelFailure.self, forKey: .failure)
        finished = try container.decodeIfPresent(Double.self, forKey: .finished)
        // Records of release 0.1.0 have none.
        revision = try container.decodeIfPresent(Int.self, forKey: .revision) ?? 0
        if let fault { throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: fault)) }
    }

    /// The name that would lead out of the job's folder; nil if none does. Any user with write access to the store can
    /// have written the record.
    private var fault: String? {
        let copies = sources.compactMap(\.staged)
        if copies.contains(where: { [".", "..", ""].contains($0) || $0.contains("/") }) {
            return "the name of a staged copy is a path"
        }
        if let edit = spec.edit, !edit.isSound(sources: sources.count) {
            return "the edit has clips that cannot be"
        }
        if let size = spec.size,
            !PictureSize.sidesAllowed.contains(size.width) || !PictureSize.sidesAllowed.contains(size.height)
        {
            return "no picture has this size"
        }
        if let rate = spec.mostFrames, !JobSpec.ratesAllowed.contains(rate) { return "no video has this frame rate" }
        if let rate = spec.sampleRate, !JobSpec.sampleRates.contains(rate) { return "no sound has this sample rate" }
        if let rate = spec.audioBitrate, !JobSpec.audioBitrates.contains(rate) { return "no sound has this bit rate" }
        if let loop = spec.loop, !loop.isSound { return "nothing loops in this way" }
        guard let result else { return nil }
        guard case .output? = JobFileName(result.name) else { return "the result's name is not that of an output" }
        guard ContentHash.isOne(result.sha256) else { return "the result's SHA-256 is malformed" }
        return result.bytes < 0 ? "the result's size is negative" : nil
    }

    /// Writes this release's version.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(JobRecord.version, forKey: .version)
        try container.encode(id, forKey: .id)
        try container.encode(spec, forKey: .spec)
        try container.encode(sources, forKey: .sources)
        try container.encode(terms, forKey: .terms)
        try container.encodeIfPresent(submission, forKey: .submission)
        if !webhooks.isEmpty { try container.encode(webhooks, forKey: .webhooks) }
        try container.encodeIfPresent(state, forKey: .state)
        try container.encode(paused, forKey: .paused)
        try container.encodeIfPresent(result, forKey: .result)
        try container.encodeIfPresent(failure, forKey: .failure)
        try container.encode(created, forKey: .created)
        try container.encodeIfPresent(finished, forKey: .finished)
        if revision > 0 { try container.encode(revision, forKey: .revision) }
    }
}
