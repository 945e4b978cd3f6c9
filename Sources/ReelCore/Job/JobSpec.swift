/// What a person asked for: every option that changes the output, and those that only shape the work.
public struct JobSpec: Hashable, Codable, Sendable {
    public var container: Container
    /// An encoder's or a codec's name as FFmpeg spells them; nil chooses by the source.
    public var videoCodec: String?
    /// Constant quality on the encoder's own scale; nil is 18 of x264 or its equivalent.
    public var crf: Double?
    public var preset: String?
    /// Instead of constant quality.
    public var bitrate: VideoRate?
    public var lossless: Bool
    public var audio: AudioMode
    public var audioCodec: String?
    /// Seconds from the file's start: frames with from ≤ t < to.
    public var from: Rational?
    public var to: Rational?
    public var timestamps: TimestampMode
    /// At most so many frames in a chunk, and in a pass if a RAP lets it end there.
    public var passFrames: Int?
    /// Threads of each codec, which the plan fixes; nil leaves it to the plan, that no slot is without work.
    public var threads: Int?
    /// What `threads` may be.
    public static let threadCounts = 1...128
    /// Bytes a pass may take; nil is the default of 2 GiB.
    public var memory: Int64?
    public var verify: VerifyMode
    public var onDamage: DamageMode

    public init(
        container: Container, videoCodec: String? = nil, crf: Double? = nil, preset: String? = nil,
        bitrate: VideoRate? = nil, lossless: Bool = false, audio: AudioMode = .reverse, audioCodec: String? = nil,
        from: Rational? = nil, to: Rational? = nil, timestamps: TimestampMode = .mirror, passFrames: Int? = nil,
        threads: Int? = nil, memory: Int64? = nil, verify: VerifyMode = .packets, onDamage: DamageMode = .repeat
    ) {
        self.container = container
        self.videoCodec = videoCodec
        self.crf = crf
        self.preset = preset
        self.bitrate = bitrate
        self.lossless = lossless
        self.audio = audio
        self.audioCodec = audioCodec
        self.from = from
        self.to = to
        self.timestamps = timestamps
        self.passFrames = passFrames
        self.threads = threads
        self.memory = memory
        self.verify = verify
        self.onDamage = onDamage
    }

    /// The spec without what does not change the output: what a job's identity is made of.
    public var identity: JobSpec {
        var copy = self
        copy.memory = nil
        copy.verify = .packets
        return copy
    }

    /// Which way the video runs: a job reverses its source.
    public var direction: Direction { .backwards }

    /// Which way the sound runs.
    public var audioDirection: Direction { audio == .keep ? .forwards : direction }

    public enum CodingKeys: String, CodingKey {
        case container = "container"
        case videoCodec = "videoCodec"
        case crf = "crf"
        case preset = "preset"
        case bitrate = "bitrate"
        case lossless = "lossless"
        case audio = "audio"
        case audioCodec = "audioCodec"
        case from = "from"
        case to = "to"
        case timestamps = "timestamps"
        case passFrames = "passFrames"
        case threads = "threads"
        case memory = "memory"
        case verify = "verify"
        case onDamage = "onDamage"
    }
}

/// Containers that reel writes; the raw value is the file name's extension.
public enum Container: String, Codable, CaseIterable, Sendable {
    case mp4, mov, mkv, webm, ts, nut
}

public enum AudioMode: String, Codable, CaseIterable, Sendable {
    case reverse
    /// Forwards, as long as the video lasts.
    case keep
    case none
}

public enum TimestampMode: String, Codable, CaseIterable, Sendable {
    /// Each frame stays on screen exactly as long as it did.
    case mirror
    /// The source's timestamps in their order, frames from the end.
    case source
}

public enum VerifyMode: String, Codable, CaseIterable, Sendable {
    case packets, decode
}

/// What becomes of a frame that does not decode.
public enum DamageMode: String, Codable, CaseIterable, Sendable {
    /// The frame before stays where nothing decodes; frames with errors are shown as the decoder mends them.
    case `repeat`
    /// The job fails.
    case fail
}
