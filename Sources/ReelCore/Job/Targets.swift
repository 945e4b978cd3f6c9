/// How the output's video is made. All segments of a job have the same target.
package enum VideoTarget: Hashable, Sendable, Codable {
    case encode(VideoEncoding)
    /// The source's packets are written in another order; nothing is decoded.
    case passthrough(VideoPassthrough)
    /// The output is a file of sound, with this clock.
    case none(clock: TimeBase)

    /// What plans call the encoder of video and audio whose packets are passed through.
    package static let copy = "copy"

    package var encoding: VideoEncoding? { if case .encode(let encoding) = self { encoding } else { nil } }

    package var isPassthrough: Bool { if case .passthrough = self { true } else { false } }

    package var isNone: Bool { if case .none = self { true } else { false } }

    /// What plans call the encoder of an output without video.
    private static let noEncoder = "none"

    /// The encoder's name as FFmpeg spells it, for example "libx264"; "copy" for passthrough, "none" without video.
    package var encoder: String {
        encoding?.encoder ?? (isNone ? VideoTarget.noEncoder : VideoTarget.copy)
    }

    package var format: OutputFormat {
        switch self {
        case .encode(let encoding): encoding.format
        case .passthrough(let passthrough): passthrough.format
        case .none(let clock):
            OutputFormat(
                timeBase: clock, width: 1, height: 1, pixelFormat: VideoTarget.noEncoder, frameRate: Rational(1))
        }
    }

    /// The build and the parameters that all of the video must share.
    package var identity: EncoderIdentity {
        switch self {
        case .encode(let encoding): encoding.identity
        case .passthrough(let passthrough): passthrough.identity
        case .none: EncoderIdentity(build: "", extradataHash: "")
        }
    }

    // All cases have the form of `VideoEncoding`: passthrough is the encoder "copy" with one thread, without options
    // and rate, and with every frame a key frame; no video is the encoder "none" likewise.
    package init(from decoder: any Decoder) throws {
        let stored = try VideoEncoding(from: decoder)
        let target: VideoTarget
        switch stored.encoder {
        case VideoTarget.copy:
            target = .passthrough(VideoPassthrough(format: stored.format, identity: stored.identity))
        case VideoTarget.noEncoder: target = .none(clock: stored.format.timeBase)
        default: target = .encode(stored)
        }
        guard stored == target.stored else {
            throw decoder.impossible("only an encoder has settings")
        }
        self = target
    }

    package func encode(to encoder: any Encoder) throws { try stored.encode(to: encoder) }

    private var stored: VideoEncoding {
        encoding
            ?? VideoEncoding(
                encoder: encoder, format: format, options: [], bitrate: nil, threads: 1, keyFrameInterval: 1,
                identity: identity)
    }

    /// Whether all numbers are within range, so that other code can compute with them: an engine that a hostile file
    /// has taken over may answer any numbers, and files may hold any.
    package var isSound: Bool {
        let sizes = 1...1 << 16
        return sizes.contains(format.width) && sizes.contains(format.height) && format.frameRate > Rational(0)
            && format.timeBase.isSound
            && encoding.map {
                (0...1 << 16).contains($0.keyFrameInterval) && JobSpec.threadCounts.contains($0.threads)
            } ?? true
    }
}

/// How the output's video is encoded. All chunks of a job are encoded with the same settings; only a rate or a quality that
/// follows the source differs.
package struct VideoEncoding: Hashable, Codable, Sendable {
    package var encoder: String
    package var format: OutputFormat
    /// The encoder's private options, applied in this order.
    package var options: [MediaOption]
    /// The rate; nil for constant quality alone.
    package var bitrate: VideoRate?
    /// The coarsest constant quality that a chunk may have, if it would have many more bits than the source has for its
    /// frames; nil if all chunks have the quality of `options`.
    package var coarsest: Double?
    package var threads: Int
    package var keyFrameInterval: Int
    package var identity: EncoderIdentity

    package init(
        encoder: String, format: OutputFormat, options: [MediaOption], bitrate: VideoRate?, threads: Int,
        keyFrameInterval: Int, identity: EncoderIdentity, coarsest: Double? = nil
    ) {
        self.encoder = encoder
        self.format = format
        self.options = options
        self.bitrate = bitrate
        self.threads = threads
        self.keyFrameInterval = keyFrameInterval
        self.identity = identity
        self.coarsest = coarsest
    }

    private static let qualityName = "crf"

    /// The constant quality of `options`; nil if they have none.
    package var quality: Double? {
        get { options.last { $0.name == Self.qualityName }.flatMap { Double($0.value) } }
        set {
            options.removeAll { $0.name == Self.qualityName }
            if let newValue { options.append(MediaOption(name: Self.qualityName, value: "\(newValue)")) }
        }
    }
}

/// The output's video if the source's packets are passed through.
package struct VideoPassthrough: Hashable, Sendable {
    package var format: OutputFormat
    /// The build of the libraries, and the hash of the source's extradata.
    package var identity: EncoderIdentity

    package init(format: OutputFormat, identity: EncoderIdentity) {
        self.format = format
        self.identity = identity
    }
}

/// An option of an encoder or a muxer, as libav* names it, with its value.
package struct MediaOption: Hashable, Codable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension [MediaOption] {
    /// Adds an option, or its value to the list of values that one of its name has.
    package mutating func add(_ name: String, _ value: String) {
        if let place = firstIndex(where: { $0.name == name }) {
            self[place].value += ":" + value
        } else {
            append(MediaOption(name: name, value: value))
        }
    }
}

/// The encoder that made a job's parameters. With it, workers with different builds are found before the work and not
/// at assembly.
package struct EncoderIdentity: Hashable, Codable, Sendable {
    /// The encoder and its library, for example "libx264 Lavc59.37.100"; workers report theirs.
    package var build: String
    /// SHA-256, in hexadecimal, of the extradata that the encoder made when it was opened for planning; of no bytes if
    /// it makes none.
    package var extradataHash: String

    package init(build: String, extradataHash: String) {
        self.build = build
        self.extradataHash = extradataHash
    }
}

/// How one audio track of the output is made.
package struct AudioTarget: Hashable, Codable, Sendable {
    /// The index in `Plan.sources` of the source that has the track. In an edit, the tracks of the other sources that
    /// have the same place among theirs are heard on it, too.
    package var source: Int
    package var track: Int
    package var direction: Direction
    /// The encoder's name as FFmpeg spells it, for example "aac" or "pcm_s16le"; "copy" for passthrough.
    package var encoder: String
    /// Samples per second. It differs from the source's if an option asks for another, or if the
    /// encoder does not take that.
    package var sampleRate: Int
    package var channelLayout: String
    /// Bits per second; nil for encoders without a rate.
    package var bitrate: Int64?
    /// Whether the track must be kept bit for bit, without trimming.
    package var lossless: Bool
    /// How parts of the track that several passes encode are joined; nil if one pass must encode all of it.
    package var joints: SoundJoints?
    /// The most bytes of all packets; nil for as many as the encoder makes at its rate. A part of the track has its part
    /// of them.
    package var mostBytes: Int64?

    package var isPassthrough: Bool { encoder == VideoTarget.copy }

    package init(
        source: Int = 0, track: Int, direction: Direction, encoder: String, sampleRate: Int, channelLayout: String,
        bitrate: Int64?, lossless: Bool, joints: SoundJoints? = nil
    ) {
        self.source = source
        self.track = track
        self.direction = direction
        self.encoder = encoder
        self.sampleRate = sampleRate
        self.channelLayout = channelLayout
        self.bitrate = bitrate
        self.lossless = lossless
        self.joints = joints
    }

    /// Whether all numbers are within range, for a job of this many sources.
    package func isSound(sources count: Int) -> Bool {
        (1...Int(Int32.max)).contains(sampleRate) && track >= 0 && (0..<count).contains(source)
            && joints?.isSound ?? true && mostBytes ?? 1 > 0
    }
}

/// How an encoder's packets of a part of a track join those of the part before: an encode that begins some frames
/// earlier, on the same grid of frames, has become equal to one of the whole track when the part begins.
package struct SoundJoints: Hashable, Codable, Sendable {
    /// Samples per channel that the encoder takes for each packet; positive.
    package var frame: Int
    /// The frames that are encoded before the part's first, and not kept; 0 if packets do not depend on those before.
    package var before: Int
    /// The frames that are encoded after the part's last, and not kept; 0 if packets do not depend on those after.
    package var after: Int

    package init(frame: Int, before: Int, after: Int) {
        self.frame = frame
        self.before = before
        self.after = after
    }

    fileprivate var isSound: Bool {
        (1...1 << 16).contains(frame) && (0...1000).contains(before) && (0...1000).contains(after)
    }
}
