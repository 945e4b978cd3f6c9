// The facts of diagnostics that are more than a number or a name. Raw values and keys are stored: never change one.

/// What pictures lose if they are converted to another pixel format.
package enum PictureLoss: String, Codable, CaseIterable, Sendable {
    case chromaResolution = "chroma-resolution"
    case depth
    case colourModel = "colour-model"
    case alpha
    case colours
    case chroma
}

/// Why frames were not taken from tables and headers.
package enum DecodingCause: String, Codable, CaseIterable, Sendable {
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
package enum PictureExtra: String, Codable, CaseIterable, Sendable {
    case closedCaptions = "closed-captions"
    case activeFormat = "active-format"
    case timecodes
    case hdr10Plus = "hdr10-plus"
    case hdrVivid = "hdr-vivid"
    case iccProfile = "icc-profile"
    case projection
}

/// Why a stream of the source is left out.
package enum StreamRefusal: Hashable, Codable, Sendable {
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
package struct DataStream: Hashable, Codable, Sendable {
    /// The stream's index in the file.
    package var stream: Int
    /// The codec's tag if it is printable, else the codec's name.
    package var kind: String

    package init(stream: Int, kind: String) {
        self.stream = stream
        self.kind = kind
    }
}

/// The format of decoded sound, in FFmpeg's names.
package struct SoundForm: Hashable, Codable, Sendable {
    /// The channel layout, for example "stereo".
    package var layout: String
    /// Samples per second.
    package var rate: Int
    /// The sample format, for example "fltp".
    package var sample: String

    package init(layout: String, rate: Int, sample: String) {
        self.layout = layout
        self.rate = rate
        self.sample = sample
    }
}

/// The form of a source's pictures, in FFmpeg's names.
package struct PictureForm: Hashable, Codable, Sendable {
    /// Pixels in a line.
    package var width: Int
    /// Lines.
    package var height: Int
    /// The pixel format.
    package var pixelFormat: String
    /// The matrix between RGB and YCbCr; nil if unspecified.
    package var matrix: String?
    /// The range of the values; nil if unspecified.
    package var range: String?

    package init(width: Int, height: Int, pixelFormat: String, matrix: String? = nil, range: String? = nil) {
        self.width = width
        self.height = height
        self.pixelFormat = pixelFormat
        self.matrix = matrix
        self.range = range
    }
}

/// Which field of an interlaced frame is shown first.
package enum FirstField: String, Codable, CaseIterable, Sendable {
    case top, bottom
}
