public import ReelCore

/// A request to an engine.
public enum EngineRequest: Codable, Sendable {
    case recon(ReconRequest)
    case choose(ChooseRequest)
    case reverse(PassRequest)
    case reverseAudio(PassRequest)
    case assemble(AssembleRequest)

    public enum CodingKeys: String, CodingKey {
        case recon, choose, reverse, reverseAudio, assemble
    }
}

/// Read the source once and write its index, which depends on nothing else.
public struct ReconRequest: Codable, Sendable {
    /// The source.
    public var source: Locator
    /// Where the engine writes the index.
    public var index: Locator
    /// Read only this many bytes of the file, for the index of an early start; nil for all of them.
    public var limit: Int64?
    /// Why the whole video is to be decoded; nil to believe tables and headers if they can be believed.
    public var decoding: DecodingCause?

    public init(source: Locator, index: Locator, limit: Int64? = nil, decoding: DecodingCause? = nil) {
        self.source = source
        self.index = index
        self.limit = limit
        self.decoding = decoding
    }

    enum CodingKeys: String, CodingKey {
        case source, index, limit, decoding
    }
}

/// Choose how the output of an index's source is encoded.
public struct ChooseRequest: Codable, Sendable {
    /// The index.
    public var index: Locator
    public var spec: JobSpec
    /// Plans the job: the number of passes determines the codecs' threads.
    public var planner: Planner

    public init(index: Locator, spec: JobSpec, planner: Planner) {
        self.index = index
        self.spec = spec
        self.planner = planner
    }

    enum CodingKeys: String, CodingKey {
        case index, spec, planner
    }
}

/// What an engine reads of a job: none of it ever changes.
public struct JobFiles: Codable, Hashable, Sendable {
    /// Those of the plan's sources, in their order.
    public var sources: [SourceFiles]
    /// The job's plan.
    public var plan: Locator

    public init(sources: [SourceFiles], plan: Locator) {
        self.sources = sources
        self.plan = plan
    }

    enum CodingKeys: String, CodingKey {
        case sources, plan
    }
}

/// A source and its index.
public struct SourceFiles: Codable, Hashable, Sendable {
    /// The source.
    public var source: Locator
    /// The source's index.
    public var index: Locator

    public init(source: Locator, index: Locator) {
        self.source = source
        self.index = index
    }

    enum CodingKeys: String, CodingKey {
        case source, index
    }
}

/// Reverse one pass into segments.
public struct PassRequest: Codable, Sendable {
    /// The job.
    public var job: JobFiles
    /// The pass's place in `Plan.passes`.
    public var pass: Int
    /// Where each chunk's segment is to be, in the order of the chunks; nil for those that are whole already. A track of
    /// sound is one chunk.
    public var segments: [SegmentPlace?]
    /// Folder on the worker's machine for spills, which are unlinked at once.
    public var scratch: String

    public init(job: JobFiles, pass: Int, segments: [SegmentPlace?], scratch: String) {
        self.job = job
        self.pass = pass
        self.segments = segments
        self.scratch = scratch
    }

    enum CodingKeys: String, CodingKey {
        case job, pass, segments, scratch
    }
}

/// Join the segments into a file and verify it. The segments follow as `EngineInput.segments`.
public struct AssembleRequest: Codable, Sendable {
    /// The job.
    public var job: JobFiles
    /// Where to write the result.
    public var output: Locator

    public init(job: JobFiles, output: Locator) {
        self.job = job
        self.output = output
    }

    enum CodingKeys: String, CodingKey {
        case job, output
    }
}

/// A line on an engine's standard input.
public enum EngineInput: Codable, Sendable {
    /// The next thing to do.
    case request(EngineRequest)
    /// Segments for the assembly that was requested last, in any order. There may be many such lines, while passes are
    /// still being done; all segments of the job are named once.
    case segments([StoredSegment])

    public enum CodingKeys: String, CodingKey {
        case request, segments
    }
}
