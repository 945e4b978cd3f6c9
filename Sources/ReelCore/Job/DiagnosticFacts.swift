// The facts of diagnostics that are more than a number or a name. Their raw values and keys are stored: never change one.

/// What pictures lose when they are converted to another pixel format.
public enum PictureLoss: String, Codable, CaseIterable, Sendable {
    case chromaResolution = "chroma-resolution"
    case depth
    case colourModel = "colour-model"
    case alpha
    case colours
    case chroma
}

/// Why tables and headers were not believed.
public enum DecodingCause: String, Codable, CaseIterable, Sendable {
    /// The codec in such a container is not known to be told by them.
    case unproven
    /// They contradict themselves.
    case contradictory
    /// The file ends within a packet.
    case cutOff = "cut-off"
    /// A pass decoded something else.
    case disproved
}

/// What lies beside pictures and no encoder can write again.
public enum PictureExtra: String, Codable, CaseIterable, Sendable {
    case closedCaptions = "closed-captions"
    case activeFormat = "active-format"
    case timecodes
    case hdr10Plus = "hdr10-plus"
    case hdrVivid = "hdr-vivid"
    case iccProfile = "icc-profile"
    case projection
}

/// Why a stream of the source is left out.
public enum StreamRefusal: Hashable, Codable, Sendable {
    case chapterPictures
    case emptyCover
    /// Another stream is the video that is reversed.
    case notMain(main: Int)
    case subtitlesNotText
    case encrypted
    case noDecoder
    case empty
    case undecodable
    /// It states a rate that sound does not have, in samples per second.
    case impossibleRate(rate: Int)
    /// reel keeps nothing of its kind, or it belongs to another programme.
    case notKept

    public enum CodingKeys: String, CodingKey, CaseIterable {
        case chapterPictures = "chapter-pictures"
        case emptyCover = "empty-cover"
        case notMain = "not-main"
        case subtitlesNotText = "subtitles-not-text"
        case encrypted
        case noDecoder = "no-decoder"
        case empty, undecodable
        case impossibleRate = "impossible-rate"
        case notKept = "not-kept"
    }
}

/// A stream of data in a source.
public struct DataStream: Hashable, Codable, Sendable {
    public var stream: Int
    /// The codec's tag where it can be read, else the codec's name.
    public var kind: String

    public init(stream: Int, kind: String) {
        self.stream = stream
        self.kind = kind
    }

    enum CodingKeys: String, CodingKey {
        case stream, kind
    }
}

/// In what form sound comes out of a decoder; names as FFmpeg spells them.
public struct SoundForm: Hashable, Codable, Sendable {
    public var layout: String
    /// Samples per second.
    public var rate: Int
    public var sample: String

    public init(layout: String, rate: Int, sample: String) {
        self.layout = layout
        self.rate = rate
        self.sample = sample
    }

    enum CodingKeys: String, CodingKey {
        case layout, rate, sample
    }
}

/// Which field of an interlaced frame is shown first.
public enum FirstField: String, Codable, CaseIterable, Sendable {
    case top, bottom
}
