public import ReelCore

/// A request to an engine: one JSON line on its standard input.
public enum EngineRequest: Codable, Sendable {
    /// Reads a source and writes its index.
    case recon(ReconRequest)
    /// Chooses encoders and formats of the output.
    case choose(ChooseRequest)
    /// Reverses a pass of video.
    case reverse(PassRequest)
    /// Reverses, keeps or copies a track of sound.
    case reverseAudio(PassRequest)
    /// Joins the segments and verifies the output.
    case assemble(AssembleRequest)

    package enum CodingKeys: String, CodingKey {
        case recon, choose, reverse, reverseAudio, assemble
    }
}

/// Read the source once and write its index, which depends on nothing else.
public struct ReconRequest: Codable, Sendable {
    /// Path of the source.
    public var source: String
    /// Path of the file that the engine writes the index to.
    public var index: String
    /// Read only this many bytes of the file, for the index of an early start; nil for all of them.
    public var limit: Int64?
    /// Why the engine must decode the whole video. If nil, it uses tables and headers, unless they prove unusable.
    public var decoding: DecodingCause?

    package init(source: String, index: String, limit: Int64? = nil, decoding: DecodingCause? = nil) {
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
    /// Path of the index.
    public var index: String
    /// What the user asks for.
    public var spec: JobSpec
    /// Plans the job: the number of passes determines the codecs' threads.
    public var planner: Planner

    package init(index: String, spec: JobSpec, planner: Planner) {
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
    /// The files of the plan's sources, in the plan's order.
    public var sources: [SourceFiles]
    /// Path of the plan.
    public var plan: String

    package init(sources: [SourceFiles], plan: String) {
        self.sources = sources
        self.plan = plan
    }

    enum CodingKeys: String, CodingKey {
        case sources, plan
    }
}

/// A source and its index.
public struct SourceFiles: Codable, Hashable, Sendable {
    /// Path of the source.
    public var source: String
    /// Path of its index.
    public var index: String

    package init(source: String, index: String) {
        self.source = source
        self.index = index
    }

    enum CodingKeys: String, CodingKey {
        case source, index
    }
}

/// Reverse one pass into segments.
public struct PassRequest: Codable, Sendable {
    /// The job's files, which the engine keeps open for the next request of the same job.
    public var job: JobFiles
    /// The pass's place in `Plan.passes`.
    public var pass: Int
    /// How many chunks it has, each of which becomes a segment; a track of sound has one.
    public var chunks: Int
    /// Path of the folder that takes the segments.
    public var segments: String
    /// The claim's token, which is part of each segment's name.
    public var token: String
    /// Chunks of the pass whose segments are whole already: the engine does not make them again.
    public var finishedChunks: [Int]
    /// Path of the folder for spills, which the engine unlinks as soon as they are open.
    public var scratch: String

    package init(
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
    /// The job's files.
    public var job: JobFiles
    /// Path of the folder with the segments.
    public var segments: String
    /// Path of a file with a JSON line for each of the job's `SegmentRecord`s, in any order. It may grow until it names all of
    /// them.
    public var list: String
    /// Path of the output: a temporary name. The caller renames the file once the engine has verified it.
    public var output: String

    package init(job: JobFiles, segments: String, list: String, output: String) {
        self.job = job
        self.segments = segments
        self.list = list
        self.output = output
    }

    enum CodingKeys: String, CodingKey {
        case job, segments, list, output
    }
}
