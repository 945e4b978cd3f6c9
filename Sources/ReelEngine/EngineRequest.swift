package import ReelCore

/// The engine's wire protocol: one request as a JSON line on standard input, events as JSON lines on standard output
/// until `result` or `failure`, then the next request. Lines do not contain large data; they name where it is.
package enum Wire {
    /// Grows with every change that an older worker or engine would misread.
    package static let version = 10
}

/// A request to an engine: one JSON line on its standard input.
package enum EngineRequest: Codable, Sendable {
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
    /// Makes pictures for people.
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

/// A source and its index.
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
    /// Where to write the result.
    package var output: Locator

    package init(job: JobFiles, output: Locator) {
        self.job = job
        self.output = output
    }
}

/// Write a JPEG of some pictures, side by side.
package struct PicturesRequest: Codable, Sendable {
    /// Where the pictures are.
    package var subject: Subject
    /// The size into which each is fitted, upright and with square pixels.
    package var within: PictureSize
    /// Where to write the JPEG.
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
    /// The next thing to do.
    case request(EngineRequest)
    /// Segments for the assembly that was requested last, in any order. There may be many such lines, while passes are
    /// still being done; all segments of the job are named once.
    case segments([StoredSegment])
}
