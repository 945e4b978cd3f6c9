// The facts of diagnostics that are more than a number or a name. Raw values and keys are stored: never change one.

/// What pictures lose if they are converted to another pixel format.
package enum PictureLoss: String, CodeFact, Sendable {
    case chromaResolution, depth, colourModel, alpha, colours, chroma
}

/// Why frames were not taken from tables and headers.
package enum DecodingCause: String, Codable, CaseIterable, Sendable {
    /// No test proves that they are right for this codec in this container.
    case unproven
    case contradictory
    case cutOff = "cut-off"
    case disproved
}

/// Data stored with pictures that no encoder can write again.
package enum PictureExtra: String, CodeFact, Sendable {
    case closedCaptions, activeFormat, timecodes, hdr10Plus, hdrVivid, iccProfile, projection
}

/// Why a stream of the source is left out.
package enum StreamRefusal: Hashable, Codable, Sendable {
    case chapterPictures, emptyCover
    case notMain(main: Int)
    case subtitlesNotText, encrypted, noDecoder, empty, undecodable
    /// It states a sample rate that sound cannot have, in samples per second.
    case impossibleRate(rate: Int)
    /// reel keeps no streams of its kind, or it belongs to another programme.
    case notKept

    package enum CodingKeys: String, CodeKey {
        case chapterPictures, emptyCover, notMain, subtitlesNotText, encrypted, noDecoder, empty, undecodable,
            impossibleRate, notKept
    }
}

package struct DataStream: Hashable, Codable, Sendable {
    package var stream: Int
    /// The codec's tag if it is printable, else the codec's name.
    package var kind: String

    package init(stream: Int, kind: String) {
        self.stream = stream
        self.kind = kind
    }
}

/// The format of decoded sound: layout and sample format in FFmpeg's names, rate in samples per second.
package struct SoundForm: Hashable, Codable, Sendable {
    package var layout: String
    package var rate: Int
    package var sample: String

    package init(layout: String, rate: Int, sample: String) {
        self.layout = layout
        self.rate = rate
        self.sample = sample
    }
}

/// The form of a source's pictures: sizes in pixels, names as FFmpeg has them, nil if unspecified.
package struct PictureForm: Hashable, Codable, Sendable {
    package var width: Int
    package var height: Int
    package var pixelFormat: String
    package var matrix: String?
    package var range: String?

    package init(width: Int, height: Int, pixelFormat: String, matrix: String? = nil, range: String? = nil) {
        self.width = width
        self.height = height
        self.pixelFormat = pixelFormat
        self.matrix = matrix
        self.range = range
    }
}

package enum FirstField: String, Codable, CaseIterable, Sendable {
    case top, bottom
}

/// Some frames of a source: how many, which, and when they are shown. Of many runs, only the first are kept, and `more`
/// counts the others.
package struct Moments: Hashable, Codable, Sendable {
    /// Consecutive frames in presentation order.
    package struct Run: Hashable, Codable, Sendable {
        package var frames: Range<Int>
        /// When the first and the last of the frames begin, in seconds from the file's start.
        package var first: Rational
        package var last: Rational

        package init(frames: Range<Int>, first: Rational, last: Rational) {
            self.frames = frames
            self.first = first
            self.last = last
        }
    }

    package var count: Int
    package var places: [Run]
    package var more: Int

    package init(count: Int, places: [Run], more: Int = 0) {
        self.count = count
        self.places = places
        self.more = more
    }

    /// The moments of frames of a track, given by their indexes in any order; `startTime` is the start of the file's
    /// clock, in seconds.
    package init(of frames: [Int], in track: VideoTrack, startTime: Rational) {
        var ranges: [Range<Int>] = []
        for frame in frames.sorted() {
            if let last = ranges.last, last.upperBound >= frame {
                ranges[ranges.count - 1] = last.lowerBound..<max(frame + 1, last.upperBound)
            } else {
                ranges.append(frame..<frame + 1)
            }
        }
        func moment(_ frame: Int) -> Rational {
            track.stream.timeBase.seconds(track.frames[frame].interval.start) - startTime
        }
        let places = ranges.prefix(Self.mostPlaces).map { range in
            Run(frames: range, first: moment(range.lowerBound), last: moment(range.upperBound - 1))
        }
        self.init(count: frames.count, places: places, more: ranges.count - places.count)
    }

    private static let mostPlaces = 8
}
