public import ReelCore

/// The engine's wire protocol: one request as a JSON line on standard input, events as JSON lines on standard
/// output until `result` or `failure`, then the next request. What is large travels as files.
public enum Wire {
    /// Grows with every change that an older worker or engine would misread.
    public static let version = 3
}

/// What an engine is asked to do.
public enum EngineRequest: Codable, Sendable {
    case recon(ReconRequest)
    case reverse(PassRequest)
    case reverseAudio(PassRequest)
    case assemble(AssembleRequest)
    case verify(VerifyRequest)
}

/// Demux the source once, write its index, and choose how the output will be encoded.
public struct ReconRequest: Codable, Sendable {
    public var source: String
    public var spec: JobSpec
    /// Who will plan the job: how many passes there will be decides about the codecs' threads.
    public var planner: Planner
    /// Where the engine writes the index.
    public var index: String
    /// Read only so many bytes of the file, for the index of its head; nil for all of them.
    public var limit: Int64?

    public init(source: String, spec: JobSpec, planner: Planner, index: String, limit: Int64? = nil) {
        self.source = source
        self.spec = spec
        self.planner = planner
        self.index = index
        self.limit = limit
    }
}

/// The immutable files of a job.
public struct JobFiles: Codable, Hashable, Sendable {
    public var source: String
    public var index: String
    public var plan: String

    public init(source: String, index: String, plan: String) {
        self.source = source
        self.index = index
        self.plan = plan
    }
}

/// Reverse one pass into segments.
public struct PassRequest: Codable, Sendable {
    public var job: JobFiles
    /// The pass's place in `Plan.passes`.
    public var pass: Int
    /// Folder that takes the segments, and what their names carry beside pass and run.
    public var segments: String
    public var token: String
    /// Runs that are whole already and need not be made again.
    public var finishedRuns: [Int]
    /// Folder for what is spilled while working; unlinked at once.
    public var scratch: String

    public init(
        job: JobFiles, pass: Int, segments: String, token: String, finishedRuns: [Int], scratch: String
    ) {
        self.job = job
        self.pass = pass
        self.segments = segments
        self.token = token
        self.finishedRuns = finishedRuns
        self.scratch = scratch
    }
}

/// Join the segments into a file and verify it.
public struct AssembleRequest: Codable, Sendable {
    public var job: JobFiles
    public var segments: String
    /// A file with a JSON line for each of the job's `SegmentRecord`s, in any order. It may grow until it names all.
    public var list: String
    /// Where to write the result: a temporary name; the caller renames it when it is verified.
    public var output: String

    public init(job: JobFiles, segments: String, list: String, output: String) {
        self.job = job
        self.segments = segments
        self.list = list
        self.output = output
    }
}

/// Compare a finished file with its plan once more.
public struct VerifyRequest: Codable, Sendable {
    public var job: JobFiles
    public var segments: String
    /// As for assembling.
    public var list: String
    public var file: String

    public init(job: JobFiles, segments: String, list: String, file: String) {
        self.job = job
        self.segments = segments
        self.list = list
        self.file = file
    }
}

/// What an engine says.
public enum EngineEvent: Codable, Sendable {
    /// Once, at the start.
    case ready(EngineIdentity)
    case progress(EngineProgress)
    case result(EngineResult)
    case failure(ReelFailure)
}

public struct EngineIdentity: Codable, Hashable, Sendable {
    public var version: Int
    /// `EncoderIdentity.build` of every encoder that this engine has.
    public var encoders: [String]

    public init(version: Int, encoders: [String]) {
        self.version = version
        self.encoders = encoders
    }
}

/// At most four a second.
public struct EngineProgress: Codable, Hashable, Sendable {
    /// Frames decoded and encoded so far, of this request; for recon, packets read, and for assembly, packets written
    /// or checked, and frames of video written.
    public var decoded: Int
    public var encoded: Int
    /// The source frames at work, for the message when the engine dies: presentation order, half-open.
    public var firstFrame: Int
    public var endFrame: Int

    public init(decoded: Int, encoded: Int, firstFrame: Int, endFrame: Int) {
        self.decoded = decoded
        self.encoded = encoded
        self.firstFrame = firstFrame
        self.endFrame = endFrame
    }
}

public enum EngineResult: Codable, Sendable {
    case recon(ReconResult)
    case pass(PassResult)
    case assembly(AssemblyResult)
}

/// The index itself is in the file that was asked for.
public struct ReconResult: Codable, Hashable, Sendable {
    /// SHA-256 of the index file, in hexadecimal.
    public var indexHash: String
    public var video: VideoTarget
    public var audio: [AudioTarget]
    public var warnings: [String]

    public init(indexHash: String, video: VideoTarget, audio: [AudioTarget], warnings: [String]) {
        self.indexHash = indexHash
        self.video = video
        self.audio = audio
        self.warnings = warnings
    }
}

public struct AssemblyResult: Codable, Hashable, Sendable {
    public var bytes: Int64
    public var packets: Int
    /// Peak resident memory of the engine so far, in bytes.
    public var peakRSS: Int64
    public var warnings: [String]

    public init(bytes: Int64, packets: Int, peakRSS: Int64, warnings: [String]) {
        self.bytes = bytes
        self.packets = packets
        self.peakRSS = peakRSS
        self.warnings = warnings
    }
}
