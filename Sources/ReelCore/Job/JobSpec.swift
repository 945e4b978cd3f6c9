/// What a user asks for: the options that change the output, and the options that only shape the work.
package struct JobSpec: Hashable, Codable, Sendable {
    package var container: Container
    /// The name of an encoder or codec as FFmpeg spells it; nil chooses one by the source.
    package var videoCodec: String?
    /// Constant quality on the encoder's own scale; nil means x264's 18 or its equivalent.
    package var crf: Double?
    /// The encoder's preset; nil means the one in its traits.
    package var preset: String?
    /// The profile of the video's codec, as FFmpeg spells it; nil leaves it to the encoder.
    package var profile: String?
    /// The rate of the video, instead of constant quality; nil for constant quality.
    package var bitrate: VideoRate?
    /// The most bytes that the output may have; nil for any number. The output nearly has them, unless `bitrate` is the
    /// source's: then its pictures have no more bits than the source's, either.
    package var mostBytes: Int64?
    package var lossless: Bool
    package var audio: AudioMode
    package var audioCodec: String?
    /// The rate of each track of the sound, in bits per second; nil for what suits the encoder.
    package var audioBitrate: Int64?
    package static let audioBitrates: ClosedRange<Int64> = 1...10_000_000
    package var tracks: TrackSelection?
    /// The start of the range: frames with from ≤ t < to are selected. Nil for no limit.
    package var from: Position?
    package var to: Position?
    /// How much of the source the range has, instead of `to`; nil for no limit.
    package var duration: Position?
    /// The clips to show; nil reverses the range from `from` to `to` once.
    package var edit: Edit?
    /// The size of the output's pictures, which are then upright with square pixels; nil for that of the first source.
    package var size: PictureSize?
    /// The most pixels of the longer side, in even numbers, if `size` is nil; nil for any number.
    package var mostSide: Int?
    /// How pictures of other proportions fill the output's; nil for `Fit.standard`.
    package var fit: Fit?
    /// The most frames a second: one frame in several is shown, or the ones that an output of one rate needs
    /// (`commonRate`). Stills become as many frames in a video. Nil shows all frames, and a still as one.
    package var mostFrames: Rational?
    package static let ratesAllowed = Rational(1, 100)...Rational(1000)
    /// The pixel format of the output, as FFmpeg spells it; nil for that of the first source, or the nearest that the
    /// encoder takes.
    package var pixelFormat: String?
    /// Samples per second of the sound; nil for the source's, or the nearest that the encoder takes.
    package var sampleRate: Int?
    package static let sampleRates = 1000...768_000
    /// The channel layout of the sound, as FFmpeg spells it; nil for the source's, or the nearest that the encoder
    /// takes.
    package var channelLayout: String?
    package var loop: LoopOptions?
    package var timestamps: TimestampMode
    /// The most frames in a chunk, and in a pass if a RAP lets it end there; nil leaves it to the planner.
    package var passFrames: Int?
    /// Threads of each codec, within `threadCounts`; nil leaves it to the planner, which keeps all slots busy.
    package var threads: Int?
    package static let threadCounts = 1...128
    /// Bytes of memory that a pass may take; nil for the default of 2 GiB.
    package var memory: Int64?
    package var verify: VerifyMode
    package var onDamage: DamageMode

    package init(
        container: Container, videoCodec: String? = nil, crf: Double? = nil, preset: String? = nil,
        profile: String? = nil, bitrate: VideoRate? = nil, mostBytes: Int64? = nil, lossless: Bool = false,
        audio: AudioMode = .reverse,
        audioCodec: String? = nil, audioBitrate: Int64? = nil, tracks: TrackSelection? = nil, from: Position? = nil,
        to: Position? = nil, duration: Position? = nil, edit: Edit? = nil, size: PictureSize? = nil,
        mostFrames: Rational? = nil, pixelFormat: String? = nil, sampleRate: Int? = nil, channelLayout: String? = nil,
        loop: LoopOptions? = nil, timestamps: TimestampMode = .mirror, passFrames: Int? = nil, threads: Int? = nil,
        memory: Int64? = nil, verify: VerifyMode = .packets, onDamage: DamageMode = .repeat
    ) {
        self.container = container
        self.videoCodec = videoCodec
        self.crf = crf
        self.preset = preset
        self.profile = profile
        self.bitrate = bitrate
        self.mostBytes = mostBytes
        self.lossless = lossless
        self.audio = audio
        self.audioCodec = audioCodec
        self.audioBitrate = audioBitrate
        self.tracks = tracks
        if let edit, edit.clips.count == 1, edit.trim == .none, edit.timecode == nil, edit.soundtrack == nil,
            let clip = edit.clips.first,
            clip
                == EditClip(from: clip.from, to: clip.to, duration: clip.duration, play: .reverse, title: clip.title)
        {
            // There is one way to ask for a range that is reversed once.
            (self.from, self.to, self.duration, self.edit) = (clip.from, clip.to, clip.duration, nil)
        } else {
            (self.from, self.to, self.duration, self.edit) = (from, to, duration, edit)
        }
        self.size = size
        self.mostFrames = mostFrames
        self.pixelFormat = pixelFormat
        self.sampleRate = sampleRate
        self.channelLayout = channelLayout
        self.loop = loop
        self.timestamps = timestamps
        self.passFrames = passFrames
        self.threads = threads
        self.memory = memory
        self.verify = verify
        self.onDamage = onDamage
    }

    /// The spec without the options that leave the output unchanged; part of a job's id.
    package var identity: JobSpec {
        var copy = self
        copy.memory = nil
        copy.verify = .packets
        return copy
    }

    package var directions: Set<Direction> { edit.map { Set($0.clips.flatMap(\.directions)) } ?? [.backwards] }

    package var mainSource: Int { edit?.firstSource ?? 0 }

    package var shownSources: [Int] { edit?.shownSources ?? [0] }

    /// Whether only the sound of a source is used: it needs no video.
    package func isOnlyHeard(_ source: Int) -> Bool {
        edit?.soundtrack?.source == source && !shownSources.contains(source)
    }

    package var shownRate: Rational? {
        guard let loops = container.traits.loops else { return mostFrames }
        return min(loops.mostFrames, mostFrames ?? loops.mostFrames)
    }

    /// How many frames a second a still becomes; nil for one frame, however long. Looping pictures need no more.
    /// `encoder` is nil if packets are passed through; `indexes` are those of the job's sources.
    func stillRate(_ encoder: EncoderTraits?, of indexes: [SourceIndex]) -> Rational? {
        guard container.traits.loops == nil else { return nil }
        if let rate = commonRate(of: indexes) ?? mostFrames { return rate }
        let isPaced = container.traits.pacing != nil
        guard isPaced || encoder?.wantsConstantRate == true else { return nil }
        return indexes[mainSource].video.stream.nominalRate
    }

    /// The options of a job, as facts name them. Raw values are stored: never change one.
    package enum Option: String, Codable, CaseIterable, Sendable {
        case container, videoCodec, crf, preset, bitrate, lossless, audio, audioCodec, from, to, timestamps, passFrames
        case threads, memory, verify, onDamage, size, loop, fps, dither, colors, soundtrack
        case pixelFormat, sampleRate, channelLayout, profile, audioBitrate, maxSize, fit
        case purpose = "for"
    }
}

/// Containers that reel writes. The raw value is the file name extension.
package enum Container: String, Codable, CaseIterable, Sendable {
    case mp4, mov, mkv, webm, ts, nut, avi, mxf, gif, apng, webp
    // Files of sound alone.
    case m4a, mp3, flac, wav, ogg, opus
}

package enum AudioMode: String, Codable, CaseIterable, Sendable {
    case reverse
    /// The sound runs forwards, for as long as the video lasts.
    case keep
    case none
}

package enum TimestampMode: String, Codable, CaseIterable, Sendable {
    /// Each frame is shown for exactly as long as in the source.
    case mirror
    /// The timestamps stay in the source's order; only the frames are reversed.
    case source
}

/// How the output is verified: its packets alone, or its decoded frames too.
package enum VerifyMode: String, Codable, CaseIterable, Sendable {
    case packets, decode
}

/// What happens to a frame that does not decode.
package enum DamageMode: String, Codable, CaseIterable, Sendable {
    /// The previous frame stays on screen if nothing decodes; frames with errors are shown as the decoder repairs them.
    case `repeat`
    case fail
}

/// Which of the sources' tracks the output has. The video is always among them.
package struct TrackSelection: Hashable, Codable, Sendable {
    /// Places among the audio tracks, ascending; nil for all.
    package var audio: [Int]?
    /// Places among the text subtitles, ascending; nil for all.
    package var subtitles: [Int]?

    package init(audio: [Int]?, subtitles: [Int]?) { (self.audio, self.subtitles) = (audio, subtitles) }

    package enum Kind: String, Codable, CaseIterable, Sendable {
        case audio, subtitles
    }
}

/// The rate of the encoded video, if it has no constant quality.
package enum VideoRate: Hashable, Sendable, Codable {
    /// Bits per second, the same in every chunk.
    case constant(Int64)
    /// In every chunk, the rate that the source has for the same frames.
    case source
    /// In every chunk at most this many bits for each bit that the source has for the same frames, and nearly as many:
    /// all chunks together then have a given size.
    case share(Rational)

    /// Whether chunks have rates of their own.
    package var followsSource: Bool {
        if case .constant = self { false } else { true }
    }

    // Encoded as a number, the word `source`, or the text of a ratio.
    private static let word = "source"

    package init(from decoder: any Decoder) throws {
        if let bits = try? Int64(from: decoder) {
            self = .constant(bits)
            return
        }
        let word = try String(from: decoder)
        if word == VideoRate.word {
            self = .source
        } else if let share = Rational.read(word), share > Rational(0) {
            self = .share(share)
        } else {
            throw decoder.impossible("neither a rate, nor \"source\", nor a share")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .constant(let bits): try bits.encode(to: encoder)
        case .share(let share): try share.encode(to: encoder)
        case .source: try VideoRate.word.encode(to: encoder)
        }
    }
}

/// A job's id: a hash of its sources' fingerprints and of the options that change the output, in hexadecimal.
package struct JobID: Hashable, Sendable, TextCoded {
    package var text: String

    package init(_ text: String) { self.text = text }

    package var description: String { text }
    package static func read(_ text: String) -> JobID? { JobID(text) }
}

/// The state of a job: probing (until its plan's passes are published) → running → assembling → done | failed |
/// cancelled.
package enum JobState: String, Codable, CaseIterable, Sendable {
    case probing, running, assembling, done, failed, cancelled

    package var isTerminal: Bool { self == .done || self == .failed || self == .cancelled }
}

/// The identity of a store: 16 hexadecimal digits, chosen at random when it was made.
package struct StoreID: Hashable, Sendable, TextCoded {
    package let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { text }
    package static func read(_ text: String) -> StoreID? { StoreID(text) }
}
