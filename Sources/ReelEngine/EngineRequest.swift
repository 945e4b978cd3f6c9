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
    public var source: String
    /// Where the engine writes the index.
    public var index: String
    /// Read only this many bytes of the file, for the index of an early start; nil for all of them.
    public var limit: Int64?
    /// Why the whole video is to be decoded; nil to believe tables and headers if they can be believed.
    public var decoding: DecodingCause?

    public init(source: String, index: String, limit: Int64? = nil, decoding: DecodingCause? = nil) {
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
    /// The index's file.
    public var index: String
    public var spec: JobSpec
    /// Plans the job: the number of passes determines the codecs' threads.
    public var planner: Planner

    public init(index: String, spec: JobSpec, planner: Planner) {
        self.index = index
        self.spec = spec
        self.planner = planner
    }

    enum CodingKeys: String, CodingKey {
        case index, spec, planner
    }
}

/// The immutable files of a job.
public struct JobFiles: Codable, Hashable, Sendable {
    /// Those of the plan's sources, in their order.
    public var sources: [SourceFiles]
    public var plan: String

    public init(sources: [SourceFiles], plan: String) {
        self.sources = sources
        self.plan = plan
    }

    enum CodingKeys: String, CodingKey {
        case sources, plan
    }
}

/// A source and its index.
public struct SourceFiles: Codable, Hashable, Sendable {
    public var source: String
    public var index: String

    public init(source: String, index: String) {
        self.source = source
        self.index = index
    }

    enum CodingKeys: String, CodingKey {
        case source, index
    }
}

/// Reverse one pass into segments.
public struct PassRequest: Codable, Sendable {
    public var job: JobFiles
    /// The pass's place in `Plan.passes`.
    public var pass: Int
    /// How many chunks it has, each of which becomes a segment; a track of sound is one.
    public var chunks: Int
    /// Folder that takes the segments, and what their names carry beside pass and chunk.
    public var segments: String
    public var token: String
    /// Chunks that are whole already and need not be made again.
    public var finishedChunks: [Int]
    /// Folder for spills, which are unlinked at once.
    public var scratch: String

    public init(
        job: JobFiles, pass: Int, chunks: Int, segments: String, token: String, finishedChunks: [Int], scratch: String
    ) {
        self.job = job
        self.pass = pass
        self.chunks = chunks
        self.segments = segments
        self.token = token
        self.finishedChunks = finishedChunks
        self.scratch = scratch
    }

    enum CodingKeys: String, CodingKey {
        case job, pass, segments, token, scratch
        case chunks = "runs"
        case finishedChunks = "finishedRuns"
    }
}

/// Join the segments into a file and verify it.
public struct AssembleRequest: Codable, Sendable {
    public var job: JobFiles
    public var segments: String
    /// A file with a JSON line for each of the job's `SegmentRecord`s, in any order. It may grow until it names all of
    /// them.
    public var list: String
    /// Where to write the result: a temporary name; the caller renames it when it is verified.
    public var output: String

    public init(job: JobFiles, segments: String, list: String, output: String) {
        self.job = job
        self.segments = segments
        self.list = list
        self.output = output
    }

    enum CodingKeys: String, CodingKey {
        case job, segments, list, output
    }
}
