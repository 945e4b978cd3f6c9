package import ReelCore

/// The contents of `job.json`: a job as it was requested, and its end, if it has ended.
///
/// The board alone decides how a job ends, and the record follows it: `JobEntry.settle`. A retry or a pause is written
/// here before Redis learns of it, so that it is not lost with the board.
package struct JobRecord: Hashable, Sendable {
    /// Grows when the meaning of a record changes.
    package static let version = 2

    /// The job's identity, and the name of its folder.
    package var id: JobID
    package var spec: JobSpec
    /// The files that become the output; at least one.
    package var sources: [JobSource]
    package var terms: JobTerms
    /// Nil in records of release 0.1.0, and of jobs that no user submitted.
    package var submission: Submission?
    /// URLs to call when the job ends, from the submissions that began or resumed it. The board may have more.
    package var webhooks: [String] = []
    /// Nil until the job has ended: before that, the board has the state.
    package var state: JobState?
    /// Whether the job is paused: none of its passes may be claimed.
    package var paused: Bool
    /// The verified output; nil until it exists.
    package var result: JobResult?
    package var failure: ReelFailure?
    /// Seconds since 1970.
    package var created: Double
    /// Seconds since 1970; nil until the job has ended.
    package var finished: Double?
    /// How often it has begun again after an end. The board knows the number, too: one that has lost its last second is
    /// behind the record, and its end is then that of an earlier run.
    package internal(set) var run = 0
    /// Grows with every change, so that a process notices when another has changed the record at the same time.
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

    /// The first source, by which people know the job.
    package var source: JobSource { sources[0] }

    /// Whether copies of the sources serve nothing any more: a failed job can be retried.
    package var needsNoCopies: Bool { state == .done || state == .cancelled }

    /// Whether segments serve nothing any more: one that was cancelled finds them when it is submitted again.
    package var needsNoSegments: Bool { state == .done && !terms.keepsSegments }

    /// Marks the job as ended.
    ///
    /// - Parameter now: seconds since 1970.
    package mutating func end(_ state: JobState, _ failure: ReelFailure? = nil, at now: Double) {
        (self.state, self.failure, finished) = (state, failure, now)
    }

    /// Marks the job as not ended, so that it can run again. This is a change even if the job had not ended: it keeps
    /// another process from writing an earlier end.
    package mutating func reopen() {
        if state != nil { paused = false }
        (state, result, failure, finished) = (nil, nil, nil, nil)
        revision &+= 1
    }

    /// Reopens the job for a further run.
    package mutating func runAgain() {
        reopen()
        run &+= 1
    }
}

/// A source of a job.
package struct JobSource: Hashable, Codable, Sendable {
    /// Absolute path, or a URL whose query may be secret.
    package var location: String
    /// Name of the copy in the job folder; nil if workers read the file itself.
    package var staged: String?
    /// Taken when the job was submitted.
    package var fingerprint: Fingerprint

    private enum CodingKeys: String, CodingKey {
        case location = "path"
        case staged, fingerprint
    }

    package init(path: String, staged: String? = nil, fingerprint: Fingerprint) {
        location = path
        self.staged = staged
        self.fingerprint = fingerprint
    }

    /// The location as people and programs see it.
    package var path: String { isOnWeb ? WebAddress.shown(location) : location }

    package var isOnWeb: Bool { WebAddress.isWritten(location) }

    /// The place of the source itself, whether or not the store has a copy.
    package var original: Locator { isOnWeb ? .web(location, fingerprint.web) : .file(location) }
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

    package init(
        weight: Double = 1, retain: Double = 7 * 24 * 3600, keepsSegments: Bool = false, output: String? = nil
    ) {
        self.weight = weight
        self.retain = retain
        self.keepsSegments = keepsSegments
        self.output = output
    }
}

/// The submitter's description of a job. The output does not depend on it, and neither does the job's id.
package struct Submission: Hashable, Codable, Sendable {
    /// The job's name for people; nil if it has no name.
    package var name: String?
    /// Values by name, by which people find the job among others.
    package var labels: [String: String]
    /// The user and the host, as "alice@edit-2"; nil if unknown.
    package var submitter: String?

    /// The name and labels must obey `isText` and `isLabelName`.
    package init(name: String? = nil, labels: [String: String] = [:], submitter: String? = nil) {
        self.name = name
        self.labels = labels
        self.submitter = submitter
    }

    package static let mostLabels = 16

    /// Whether a text can be the name of a job or the value of a label: 1 to 100 characters without control characters.
    package static func isText(_ text: String) -> Bool {
        (1...100).contains(text.count) && text.utf8.count <= 400
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// Whether a text can be the name of a label: 1 to 40 of the letters a to z in both cases, digits, ".", "-" and
    /// "_".
    package static func isLabelName(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                let letter = Character(Unicode.Scalar(byte))
                return byte < 128 && (letter.isLetter || letter.isNumber || "._-".contains(letter))
            }
    }

    /// This submission of a job that was submitted before: without a name and labels of its own, it keeps the earlier
    /// ones.
    package func after(_ earlier: Submission?) -> Submission {
        guard let earlier, name == nil, labels.isEmpty else { return self }
        return Submission(name: earlier.name, labels: earlier.labels, submitter: submitter)
    }
}

// Written and read in one version, which the record names. Empty fields are left out.
extension JobRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case version, id, spec, sources, terms, submission, webhooks, state, paused, result, failure, created, finished
        case revision, run
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
        // Records of release 0.1.0 have no revision.
        revision = try container.decodeIfPresent(Int.self, forKey: .revision) ?? 0
        run = try container.decodeIfPresent(Int.self, forKey: .run) ?? 0
        if let fault { throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: fault)) }
    }

    /// What is impossible in the record, such as a name that leads out of the job's folder; nil if it is sound. Any
    /// user with write access to the store can have written it.
    private var fault: String? {
        let copies = sources.compactMap(\.staged)
        if copies.contains(where: { [".", "..", ""].contains($0) || $0.contains("/") }) {
            return "the name of a staged copy is a path"
        }
        if let edit = spec.edit, !edit.isSound(sources: sources.count) { return "the edit has clips that cannot be" }
        if let size = spec.size,
            !PictureSize.sidesAllowed.contains(size.width) || !PictureSize.sidesAllowed.contains(size.height)
        {
            return "no picture has this size"
        }
        if let most = spec.mostSide, !PictureSize.sidesAllowed.contains(most) { return "no picture has this side" }
        if let rate = spec.mostFrames, !JobSpec.ratesAllowed.contains(rate) { return "no video has this frame rate" }
        if let rate = spec.sampleRate, !JobSpec.sampleRates.contains(rate) { return "no sound has this sample rate" }
        if let most = spec.mostBytes, most <= 0 { return "no output has this size" }
        if let rate = spec.audioBitrate, !JobSpec.audioBitrates.contains(rate) { return "no sound has this bit rate" }
        if let loop = spec.loop, !loop.isSound { return "nothing loops in this way" }
        guard let result else { return nil }
        guard case .output? = JobFileName(result.name) else { return "the result's name is not that of an output" }
        guard ContentHash.isOne(result.sha256) else { return "the result's SHA-256 is malformed" }
        return result.bytes < 0 ? "the result's size is negative" : nil
    }

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
        if run > 0 { try container.encode(run, forKey: .run) }
    }
}

/// The part of a job in the store that lists show.
package struct JobOutline: Hashable, Sendable {
    /// The request, without a long edit: one of 100,000 clips has 12 MB, and takes seconds to decode.
    package var options: JobSpec
    package var submission: Submission?
    /// The verified output as the record has it, whether or not its file is still there.
    package var recorded: JobResult?
    /// As `JobEntry.result`.
    package var result: StoredResult?

    package init(_ record: JobRecord, result: StoredResult?) {
        options = record.spec
        submission = record.submission
        recorded = record.result
        self.result = result
    }
}

extension JobEntry {
    package var isLarge: Bool { false }

    package func outline() async throws(ReelFailure) -> JobOutline {
        JobOutline(try await read(), result: await result)
    }
}

extension JobFolder {
    /// A record of more bytes is decoded without its edit.
    private static let mostBytes = 64 << 10

    package func outline() throws(ReelFailure) -> JobOutline {
        let record = try record { bytes in
            bytes.count > JobFolder.mostBytes ? JSONCut.text(bytes, without: ["spec", "edit"]) : bytes
        }
        return JobOutline(record, result: try? result(of: record))
    }
}

/// Takes values out of JSON texts without decoding them.
package enum JSONCut {
    /// A text with null in place of the first value at a path of keys. Reads each byte once, at most. The text stays as
    /// it is if it has no such value, is not JSON, or spells one of the keys with escapes.
    package static func text(_ text: [UInt8], without path: [String]) -> [UInt8] {
        let path = path.map { Array($0.utf8) }
        // The last name in each open object, from the outermost; unused for lists and deeper objects.
        var names: [ArraySlice<UInt8>] = Array(repeating: [], count: path.count)
        var last: ArraySlice<UInt8> = []
        var depth = 0
        var begin: Int?
        var place = 0
        while place < text.count {
            defer { place += 1 }
            switch text[place] {
            case UInt8(ascii: "\""):
                let start = place + 1
                place = start
                while place < text.count, text[place] != UInt8(ascii: "\"") {
                    place += text[place] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard place < text.count else { return text }
                last = text[start..<place]
            case UInt8(ascii: ":") where (1...path.count).contains(depth):
                names[depth - 1] = last
                if depth == path.count, zip(names, path).allSatisfy({ $0.elementsEqual($1) }) { begin = place + 1 }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth <= path.count { names[depth - 1] = [] }
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let begin, depth == path.count { return text[..<begin] + Array("null".utf8) + text[place...] }
                if text[place] != UInt8(ascii: ",") { depth -= 1 }
                guard depth >= 0 else { return text }
            default: continue
            }
        }
        return text
    }
}
