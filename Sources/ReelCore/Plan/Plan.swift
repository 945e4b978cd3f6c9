/// A job's work, fixed before any of it is done. Immutable: the same plan gives the same bytes anywhere. A job may get
/// another one, which then has another number.
public struct Plan: Hashable, Codable, Sendable {
    /// Grows when the meaning of a plan changes; workers refuse what they do not know.
    public static let version = 8

    public var version: Int
    /// Counts the plans of a job, from 1 on; 0 until the job's folder has it.
    public var number: Int
    /// What it is made from; clips name these by their place.
    public var sources: [PlannedSource]
    /// Builds of the encoders that workers must have.
    public var encoders: [String]
    public var container: Container
    /// What the output shows, in its order.
    public var clips: [Clip]
    public var video: VideoTarget
    public var audio: [AudioTarget]
    /// Audio tracks first, then video in the order of the output; none of video if its packets are passed on by the
    /// assembly. The assembly is not among them; its index on the board is `passes.count`.
    public var passes: [Pass]
    /// Bytes a slot must have for the most demanding pass.
    public var need: Int64
    public var verify: VerifyMode
    public var onDamage: DamageMode
    public var diagnostics: [Diagnostic]

    public init(
        number: Int = 0, sources: [PlannedSource], encoders: [String], container: Container, clips: [Clip],
        video: VideoTarget, audio: [AudioTarget], passes: [Pass], need: Int64, verify: VerifyMode,
        onDamage: DamageMode, diagnostics: [Diagnostic]
    ) {
        self.version = Plan.version
        self.number = number
        self.sources = sources
        self.encoders = encoders
        self.container = container
        self.clips = clips
        self.video = video
        self.audio = audio
        self.passes = passes
        self.need = need
        self.verify = verify
        self.onDamage = onDamage
        self.diagnostics = diagnostics
    }

    public enum CodingKeys: String, CodingKey {
        case version = "version"
        case number = "number"
        case sources = "sources"
        case encoders = "encoders"
        case container = "container"
        case clips = "clips"
        case video = "video"
        case audio = "audio"
        case passes = "passes"
        case need = "need"
        case verify = "verify"
        case onDamage = "onDamage"
        case diagnostics = "diagnostics"
    }

    /// Reads what `CanonicalJSON` wrote.
    ///
    /// Throws `.planOfOtherVersion` for a plan of another version, `DecodingError` for what is no plan.
    public static func decoded(from bytes: [UInt8]) throws -> Plan {
        let version = try CanonicalJSON.value(Versioned.self, from: bytes).version
        guard version == Plan.version else {
            throw ReelFailure(.planOfOtherVersion(found: version, known: Plan.version))
        }
        let plan = try CanonicalJSON.value(Plan.self, from: bytes)
        guard plan.isSound else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "no plan says this"))
        }
        return plan
    }

    /// Whether it can be worked at without asking of each of its numbers whether it may be true.
    private var isSound: Bool {
        let counts = 0...Int(Timestamp.bound)
        let clipsAreSound = clips.allSatisfy {
            counts.contains($0.firstFrame) && counts.contains($0.frameCount) && sources.indices.contains($0.source)
                && $0.map.output == video.format.timeBase
        }
        guard clipsAreSound, !clips.isEmpty, need >= 0, (1...1 << 16).contains(video.format.width),
            (1...1 << 16).contains(video.format.height), video.format.frameRate > Rational(0),
            (0...1 << 16).contains(video.keyFrameInterval), JobSpec.threadCounts.contains(video.threads),
            audio.allSatisfy({
                (1...Int(Int32.max)).contains($0.sampleRate) && $0.track >= 0 && clips.indices.contains($0.clip)
            })
        else { return false }
        return passes.allSatisfy { pass in
            switch pass {
            case .audio(let place): audio.indices.contains(place)
            case .video(let pass):
                clips.indices.contains(pass.clip) && pass.frames.clamped(to: clips[pass.clip].frames) == pass.frames
            case .assembly, .probe: false
            }
        }
    }

    /// Whether the indexes of its sources, in their order, have all that it names: false if it was made from others.
    public func fits(_ indexes: [SourceIndex]) -> Bool {
        indexes.count == sources.count
            && clips.allSatisfy { clip in
                let track = indexes[clip.source].video
                return clip.frames.upperBound <= track.frames.count && clip.map.source == track.stream.timeBase
            }
            && audio.allSatisfy { indexes[clips[$0.clip].source].audio.indices.contains($0.track) }
            && passes.allSatisfy { pass in
                guard case .video(let pass) = pass else { return true }
                let points = indexes[clips[pass.clip].source].video.randomAccessPoints
                return points.indices.contains(pass.randomAccessPoint)
            }
    }

    /// Frames that the output shows.
    public var frameCount: Int { clips.reduce(0) { $0 + $1.frameCount } }

    /// When the last frame of the output ends; `indexes` are those of the sources.
    public func end(in indexes: [SourceIndex]) -> Timestamp {
        clips.last.map { $0.interval(of: $0.lastFrame, in: indexes[$0.source].video).end } ?? Timestamp(0)
    }

    /// Which clip the output shows at a place counted in frames, and which frame of its source; nil behind the last.
    public func frame(at place: Int) -> (clip: Int, frame: Int)? {
        var place = place
        for (number, clip) in clips.enumerated() {
            if place < clip.frameCount { return (number, clip.frame(at: place)) }
            place -= clip.frameCount
        }
        return nil
    }

    private struct Versioned: Decodable { let version: Int }

    /// The most threads that a pass gives its encoder.
    public var mostEncoderThreads: Int {
        passes.reduce(1) { most, pass in if case .video(let pass) = pass { max(most, pass.threads) } else { most } }
    }
}

/// The unit of work: decoded in one go, published, claimed, retried. At most 200 bytes of JSON.
public enum Pass: Hashable, Codable, Sendable {
    case video(VideoPass)
    /// The place of the track in `Plan.audio`.
    case audio(Int)
    /// Joins all segments; no plan lists it.
    case assembly
    /// Makes index and plan, so that there are passes; no plan lists it.
    case probe

    public enum CodingKeys: String, CodingKey {
        case video = "video"
        case audio = "audio"
        case assembly = "assembly"
        case probe = "probe"
    }

    public enum VideoCodingKeys: String, CodingKey {
        case _0 = "pass"
    }

    public enum AudioCodingKeys: String, CodingKey {
        case _0 = "place"
    }
}

/// A source of a plan.
public struct PlannedSource: Hashable, Codable, Sendable {
    /// SHA-256 of its index, in hexadecimal.
    public var indexHash: String

    public init(indexHash: String) { self.indexHash = indexHash }

    public enum CodingKeys: String, CodingKey {
        case indexHash = "indexHash"
    }
}

/// Decoded from a RAP, discarding up to its first frame, and encoded chunk by chunk.
public struct VideoPass: Hashable, Sendable {
    /// The place of its clip in `Plan.clips`.
    public var clip: Int
    /// The place of the RAP in `VideoTrack.randomAccessPoints`.
    public var randomAccessPoint: Int
    /// Frames in presentation order.
    public var frames: Range<Int>
    /// How many chunks they are split into; see `chunks`.
    public var chunkCount: Int
    /// Where RAPs are near, frames that a window has at the least: the pass is decoded window by window from its end,
    /// and only a window is held in memory; see `StartTable.windows`. nil: it is decoded forwards, and a chunk is held.
    public var windowFrames: Int?
    /// Of the encoder: those of the job's target, but more at the job's end.
    public var threads: Int

    public init(
        clip: Int = 0, randomAccessPoint: Int, frames: Range<Int>, chunkCount: Int, windowFrames: Int? = nil,
        threads: Int = 1
    ) {
        self.clip = clip
        self.randomAccessPoint = randomAccessPoint
        self.frames = frames
        self.chunkCount = chunkCount
        self.windowFrames = windowFrames
        self.threads = threads
    }

    /// The chunks in presentation order: as even as whole frames allow, the longer ones first.
    public var chunks: [Range<Int>] {
        let (length, longer) = frames.count.quotientAndRemainder(dividingBy: chunkCount)
        var start = frames.lowerBound
        return (0..<chunkCount).map { chunk in
            let end = start + length + (chunk < longer ? 1 : 0)
            defer { start = end }
            return start..<end
        }
    }
}

/// Written as [rap, first frame, end, chunks, frames of a window or 0, threads, clip], since a pass on the board is short.
extension VideoPass: Codable {
    public init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        randomAccessPoint = try list.decode(Int.self)
        let (start, end) = (try list.decode(Int.self), try list.decode(Int.self))
        chunkCount = try list.decode(Int.self)
        let window = try list.decode(Int.self)
        threads = try list.decode(Int.self)
        clip = try list.decode(Int.self)
        guard clip >= 0, 0 <= start, start < end, 0 < chunkCount, chunkCount <= end - start, randomAccessPoint >= 0,
            window >= 0,
            JobSpec.threadCounts.contains(threads)
        else {
            throw DecodingError.dataCorruptedError(in: list, debugDescription: "not a pass")
        }
        frames = start..<end
        windowFrames = window > 0 ? window : nil
    }

    public func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        let (start, end, window) = (frames.lowerBound, frames.upperBound, windowFrames ?? 0)
        for number in [randomAccessPoint, start, end, chunkCount, window, threads, clip] { try list.encode(number) }
    }
}
