// The facts of diagnostics that are more than a number or a name. Raw values and keys are stored: never change one.

/// What pictures lose if they are converted to another pixel format.
public enum PictureLoss: String, Codable, CaseIterable, Sendable {
    case chromaResolution = "chroma-resolution"
    case depth
    case colourModel = "colour-model"
    case alpha
    case colours
    case chroma
}

/// Why frames were not taken from tables and headers.
public enum DecodingCause: String, Codable, CaseIterable, Sendable {
    /// No test proves that they are right for this codec in this container.
    case unproven
    /// They contradict each other.
    case contradictory
    /// The file ends within a packet.
    case cutOff = "cut-off"
    /// A pass decoded something else than they promised.
    case disproved
}

/// Data stored with pictures that no encoder can write again.
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
    /// It is not the main video, which is this stream.
    case notMain(main: Int)
    case subtitlesNotText
    case encrypted
    case noDecoder
    case empty
    case undecodable
    /// It states a sample rate that sound cannot have, in samples per second.
    case impossibleRate(rate: Int)
    /// reel keeps no streams of its kind, or it belongs to another programme.
    case notKept

    package enum CodingKeys: String, CodeKey {
        case chapterPictures, emptyCover, notMain, subtitlesNotText, encrypted, noDecoder, empty, undecodable,
            impossibleRate, notKept
    }
}

/// A data stream of a source.
public struct DataStream: Hashable, Codable, Sendable {
    /// The stream's index in the file.
    public var stream: Int
    /// The codec's tag if it is printable, else the codec's name.
    public var kind: String

    package init(stream: Int, kind: String) {
        self.stream = stream
        self.kind = kind
    }

    enum CodingKeys: String, CodingKey {
        case stream, kind
    }
}

/// The format of decoded sound, in FFmpeg's names.
public struct SoundForm: Hashable, Codable, Sendable {
    /// The channel layout, for example "stereo".
    public var layout: String
    /// Samples per second.
    public var rate: Int
    /// The sample format, for example "fltp".
    public var sample: String

    package init(layout: String, rate: Int, sample: String) {
        self.layout = layout
        self.rate = rate
        self.sample = sample
    }

    enum CodingKeys: String, CodingKey {
        case layout, rate, sample
    }
}

/// The form of a source's pictures, in FFmpeg's names.
public struct PictureForm: Hashable, Codable, Sendable {
    /// Pixels in a line.
    public var width: Int
    /// Lines.
    public var height: Int
    /// The pixel format.
    public var pixelFormat: String
    /// The matrix between RGB and YCbCr; nil if unspecified.
    public var matrix: String?
    /// The range of the values; nil if unspecified.
    public var range: String?

    package init(width: Int, height: Int, pixelFormat: String, matrix: String? = nil, range: String? = nil) {
        self.width = width
        self.height = height
        self.pixelFormat = pixelFormat
        self.matrix = matrix
        self.range = range
    }

    enum CodingKeys: String, CodingKey {
        case width, height, pixelFormat, matrix, range
    }
}

/// Which field of an interlaced frame is shown first.
public enum FirstField: String, Codable, CaseIterable, Sendable {
    case top, bottom
}
