public import ReelCore

/// What an engine reports.
public enum EngineEvent: Codable, Sendable {
    /// Once, at the start.
    case ready(EngineIdentity)
    case progress(EngineProgress)
    case result(EngineResult)
    case failure(ReelFailure)

    public enum CodingKeys: String, CodingKey {
        case ready, progress, result, failure
    }
}

public struct EngineIdentity: Codable, Hashable, Sendable {
    public var version: Int
    /// `EncoderIdentity.build` of every encoder that this engine has.
    public var encoders: [String]

    public init(version: Int, encoders: [String]) {
        self.version = version
        self.encoders = encoders
    }

    enum CodingKeys: String, CodingKey {
        case version, encoders
    }
}

/// At most four a second.
public struct EngineProgress: Codable, Hashable, Sendable {
    /// Frames decoded and encoded so far, of this request; for recon, packets read and thousandths of the file; for
    /// assembly, packets written or checked, and frames of video written.
    public var decoded: Int
    public var encoded: Int
    /// The source frames being processed, to be named in the failure if the engine dies: presentation order, half-open.
    public var firstFrame: Int
    public var endFrame: Int

    public init(decoded: Int, encoded: Int, firstFrame: Int, endFrame: Int) {
        self.decoded = decoded
        self.encoded = encoded
        self.firstFrame = firstFrame
        self.endFrame = endFrame
    }

    /// Refuses numbers that cannot be counts.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        decoded = try container.decode(Int.self, forKey: .decoded)
        encoded = try container.decode(Int.self, forKey: .encoded)
        firstFrame = try container.decode(Int.self, forKey: .firstFrame)
        endFrame = try container.decode(Int.self, forKey: .endFrame)
        guard [decoded, encoded, firstFrame, endFrame].allSatisfy({ (0...1 << 50).contains($0) }) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "nothing counts so far"))
        }
    }

    enum CodingKeys: String, CodingKey {
        case decoded, encoded, firstFrame, endFrame
    }
}

public enum EngineResult: Codable, Sendable {
    case recon(ReconResult)
    case targets(TargetsResult)
    case pass(PassResult)
    case assembly(AssemblyResult)

    public enum CodingKeys: String, CodingKey {
        case recon, targets, pass, assembly
    }
}

/// The result of recon. The index itself is in the requested file.
public struct ReconResult: Codable, Hashable, Sendable {
    /// SHA-256 of the index file, in hexadecimal.
    public var indexHash: String

    public init(indexHash: String) { self.indexHash = indexHash }

    enum CodingKeys: String, CodingKey {
        case indexHash
    }
}

/// How the output will be encoded.
public struct TargetsResult: Codable, Hashable, Sendable {
    public var video: VideoTarget
    public var audio: [AudioTarget]
    /// Diagnostics of this choice; the index has its own.
    public var diagnostics: [Diagnostic]

    public init(video: VideoTarget, audio: [AudioTarget], diagnostics: [Diagnostic]) {
        self.video = video
        self.audio = audio
        self.diagnostics = diagnostics
    }

    enum CodingKeys: String, CodingKey {
        case video, audio, diagnostics
    }
}

public struct AssemblyResult: Codable, Hashable, Sendable {
    /// Size of the output.
    public var bytes: Int64
    /// SHA-256 of the output as it was verified, in hexadecimal.
    public var checksum: String
    public var packets: Int
    /// Peak resident memory of the engine so far, in bytes.
    public var peakRSS: Int64
    public var diagnostics: [Diagnostic]

    public init(bytes: Int64, checksum: String, packets: Int, peakRSS: Int64, diagnostics: [Diagnostic]) {
        self.bytes = bytes
        self.checksum = checksum
        self.packets = packets
        self.peakRSS = peakRSS
        self.diagnostics = diagnostics
    }

    enum CodingKeys: String, CodingKey {
        case bytes, checksum, packets, peakRSS, diagnostics
    }
}
