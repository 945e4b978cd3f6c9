package import ReelCore

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
    /// Assembly: packets written or checked, and frames of video written.
    case assembly(packets: Int, frames: Int)
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

/// The result of a request.
package enum EngineResult: Codable, Sendable {
    /// Of `EngineRequest.recon`.
    case recon(ReconResult)
    /// Of `EngineRequest.choose`.
    case targets(TargetsResult)
    /// Of `EngineRequest.reverse` and `.reverseAudio`.
    case pass(PassResult)
    /// Of `EngineRequest.assemble`.
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

/// How the output will be encoded.
package struct TargetsResult: Codable, Hashable, Sendable {
    /// Encoder and format of the video, or passthrough.
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
