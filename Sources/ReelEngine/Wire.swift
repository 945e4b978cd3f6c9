package import ReelCore
internal import ReelSandbox

/// The engine's wire protocol: one request as a JSON line on standard input, events as JSON lines on standard output
/// until `result` or `failure`, then the next request. Lines do not contain large data; they name where it is.
package enum Wire {
    /// Grows with every change that an older worker or engine would misread.
    package static let version = 12
}

/// A request to an engine: one JSON line on its standard input.
package enum EngineRequest: Codable, Sendable {
    case recon(ReconRequest)
    case choose(ChooseRequest)
    case reverse(PassRequest)
    /// Reverses, keeps or copies a track of sound.
    case reverseAudio(PassRequest)
    case assemble(AssembleRequest)
    case pictures(PicturesRequest)
}

/// Read the source once and write its index, which depends on nothing else.
package struct ReconRequest: Codable, Sendable {
    package var source: Locator
    /// Where the engine writes the index.
    package var index: Locator
    /// Why the engine must decode the whole video. If nil, it uses tables and headers, unless they prove unusable.
    package var decoding: DecodingCause?
    /// Whether only the sound is wanted: the source needs no video, and none is read.
    package var isSoundOnly: Bool

    package init(source: Locator, index: Locator, decoding: DecodingCause? = nil, isSoundOnly: Bool = false) {
        self.source = source
        self.index = index
        self.decoding = decoding
        self.isSoundOnly = isSoundOnly
    }
}

/// Choose how an output is encoded.
package struct ChooseRequest: Codable, Sendable {
    /// The indexes of the job's sources, in their order.
    package var indexes: [Locator]
    package var spec: JobSpec
    /// Threads of each codec if the spec does not set them; at least 1.
    package var threads: Int

    package init(indexes: [Locator], spec: JobSpec, threads: Int = 1) {
        self.indexes = indexes
        self.spec = spec
        self.threads = threads
    }
}

/// The files of a job that an engine reads. They never change.
package struct JobFiles: Codable, Hashable, Sendable {
    /// The files of the plan's sources, in the plan's order.
    package var sources: [SourceFiles]
    package var plan: Locator

    package init(sources: [SourceFiles], plan: Locator) {
        self.sources = sources
        self.plan = plan
    }
}

package struct SourceFiles: Codable, Hashable, Sendable {
    package var source: Locator
    package var index: Locator

    package init(source: Locator, index: Locator) {
        self.source = source
        self.index = index
    }
}

/// Reverse one pass into segments.
package struct PassRequest: Codable, Sendable {
    package var job: JobFiles
    /// The pass's place in `Plan.passes`.
    package var pass: Int
    /// Where each chunk's segment is to be, in the order of the chunks; nil for chunks whose segment is already whole.
    /// A track of sound is one chunk.
    package var segments: [SegmentPlace?]
    /// Folder on the worker's machine for spills, which are unlinked at once.
    package var scratch: String

    package init(job: JobFiles, pass: Int, segments: [SegmentPlace?], scratch: String) {
        self.job = job
        self.pass = pass
        self.segments = segments
        self.scratch = scratch
    }
}

/// Join the segments into a file and verify it. The segments follow as `EngineInput.segments`.
package struct AssembleRequest: Codable, Sendable {
    package var job: JobFiles
    package var output: Locator

    package init(job: JobFiles, output: Locator) {
        self.job = job
        self.output = output
    }
}

/// Write a JPEG of some pictures, side by side.
package struct PicturesRequest: Codable, Sendable {
    package var subject: Subject
    /// The size into which each is fitted, upright and with square pixels.
    package var within: PictureSize
    package var file: Locator

    package enum Subject: Codable, Sendable {
        /// Frames of a source.
        case source(files: SourceFiles, sample: FrameSample)
        /// Pictures of an output of this format, whose colours are those of the stream; nil leaves a place black.
        case output(format: OutputFormat, like: VideoStream, pictures: [FilePicture?])
    }

    package init(subject: Subject, within: PictureSize, file: Locator) {
        self.subject = subject
        self.within = within
        self.file = file
    }
}

/// A line on an engine's standard input.
package enum EngineInput: Codable, Sendable {
    /// What the engine may reach, before anything else.
    case confinement(Confinement)
    case request(EngineRequest)
    /// Segments for the assembly that was requested last, in any order. There may be many such lines, while passes are
    /// still being done; all segments of the job are named once.
    case segments([StoredSegment])
    /// The bytes that the engine has asked for are in their file.
    case fetched(FetchOrder)
}

/// Bytes of a source that is not a file here.
package struct FetchOrder: Codable, Hashable, Sendable {
    /// `FetchedBytes.number`.
    package var source: Int
    package var range: Range<Int64>
    /// Bytes that the engine needs no more, if it needs room.
    package var discarded: Range<Int64>?

    package init(source: Int, range: Range<Int64>, discarded: Range<Int64>? = nil) {
        (self.source, self.range, self.discarded) = (source, range, discarded)
    }
}

/// What an engine may reach: the files of its one job, and nothing else.
package struct EngineScope: Codable, Hashable, Sendable {
    /// Sources, which it may read if they lie in the roots of its caller, if those are restricted. It may ask for the
    /// bytes of the ones on a web server.
    package var sources: [Locator]
    /// Other files that it may read, and folders whose files it may.
    package var reads: [Locator]
    /// Folders in which it may make, write, rename, read and remove files.
    package var folders: [Locator]
    /// Seconds of CPU time, of all threads, after which it is killed; nil for no limit.
    package var cpuSeconds: Int?
    /// The most bytes that a file that it writes can have; nil for no limit.
    package var fileBytes: Int64?

    /// The scope of an engine that reads and writes nothing.
    package static let nothing = EngineScope(sources: [], reads: [], folders: [])

    package init(
        sources: [Locator], reads: [Locator], folders: [Locator], cpuSeconds: Int? = nil, fileBytes: Int64? = nil
    ) {
        self.sources = sources
        self.reads = reads
        self.folders = folders
        self.cpuSeconds = cpuSeconds
        self.fileBytes = fileBytes
    }
}

/// The first line on an engine's standard input: the engine confines itself before it is ready.
package struct Confinement: Codable, Hashable, Sendable {
    package var scope: EngineScope
    package var mode: SandboxMode
    /// The folders in which the scope's sources must lie; nil for any.
    package var sourceRoots: SourceRoots?

    package init(scope: EngineScope, mode: SandboxMode, sourceRoots: SourceRoots?) {
        self.scope = scope
        self.mode = mode
        self.sourceRoots = sourceRoots
    }

    /// Confines this process, which must have one thread. It cannot be undone. Returns the confinement in force.
    ///
    /// Throws `.sandboxIncomplete` if the mode requires a part that the kernel lacks, `.sourceOutside` if a source lies
    /// outside the roots.
    package func enter() throws(ReelFailure) -> SandboxState {
        try Sandbox.enter(
            mode, sources: scope.sources.map(\.name), within: sourceRoots, reads: scope.reads.map(\.name),
            writes: scope.folders.map(\.name), cpuSeconds: scope.cpuSeconds, fileBytes: scope.fileBytes)
    }
}

/// A report of an engine: one JSON line on its standard output.
package enum EngineEvent: Codable, Sendable {
    /// The engine takes requests. It is sent once, at the start.
    case ready(EngineIdentity)
    /// How far the current request is. At most four are sent a second.
    case progress(EngineProgress)
    /// The request is done; the engine takes the next one.
    case result(EngineResult)
    /// The request failed; the engine takes the next one.
    case failure(ReelFailure)
    /// The request needs bytes. The answer is the same order as `EngineInput.fetched`; if they cannot be had, the engine
    /// is killed.
    case fetch(FetchOrder)
}

/// How far an engine is with its current request. Counts begin with the request.
package enum EngineProgress: Codable, Hashable, Sendable {
    /// Recon: packets read, and how much of the source's bytes that is, in thousandths.
    case recon(packets: Int, thousandths: Int)
    /// A pass of video: frames decoded and encoded, and the source's frames that are being processed, in presentation
    /// order. If the engine dies, the failure names these.
    case video(decoded: Int, encoded: Int, frames: Range<Int>)
    /// A pass of sound is still running.
    case sound
    /// Assembly: packets written or checked, frames of video written, and how much of all its work that is, in thousandths.
    case assembly(packets: Int, frames: Int, thousandths: Int)
}

/// What an engine reports about itself, so that a worker can tell whether it fits a job.
package struct EngineIdentity: Codable, Hashable, Sendable {
    /// The engine's `Wire.version`.
    package var version: Int
    /// `EncoderIdentity.build` of every encoder that this engine has.
    package var encoders: [String]
    package var sandbox: SandboxState

    package init(version: Int, encoders: [String], sandbox: SandboxState) {
        self.version = version
        self.encoders = encoders
        self.sandbox = sandbox
    }
}

package enum EngineResult: Codable, Sendable {
    case recon(ReconResult)
    case targets(TargetsResult)
    /// Of `EngineRequest.reverse` and `.reverseAudio`.
    case pass(PassResult)
    case assembly(AssemblyResult)
    /// Of `EngineRequest.pictures`: they are in the requested file.
    case pictures
}

/// The result of recon. The index itself is in the requested file.
package struct ReconResult: Codable, Hashable, Sendable {
    /// SHA-256 of the index file, in hexadecimal.
    package var indexHash: String

    package init(indexHash: String) { self.indexHash = indexHash }
}

package struct TargetsResult: Codable, Hashable, Sendable {
    package var video: VideoTarget
    /// One target for each track of sound that the output gets.
    package var audio: [AudioTarget]
    /// Diagnostics of this choice, without those of the index.
    package var diagnostics: [Diagnostic]

    package init(video: VideoTarget, audio: [AudioTarget], diagnostics: [Diagnostic]) {
        self.video = video
        self.audio = audio
        self.diagnostics = diagnostics
    }
}

/// The result of an assembly: the output that was written and verified.
package struct AssemblyResult: Codable, Hashable, Sendable {
    /// Size of the output, in bytes.
    package var bytes: Int64
    /// SHA-256 of the output as it was verified, in hexadecimal.
    package var checksum: String
    /// How many packets the output has, of all streams.
    package var packets: Int
    /// Peak resident memory of the engine so far, in bytes.
    package var peakRSS: Int64
    /// Diagnostics of the assembly alone.
    package var diagnostics: [Diagnostic]

    package init(bytes: Int64, checksum: String, packets: Int, peakRSS: Int64, diagnostics: [Diagnostic]) {
        self.bytes = bytes
        self.checksum = checksum
        self.packets = packets
        self.peakRSS = peakRSS
        self.diagnostics = diagnostics
    }
}
