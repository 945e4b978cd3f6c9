/// What a decoder showed for a frame when the whole source was decoded in order: enough to recognise the same picture
/// later.
package struct DecodedPicture: Hashable, Sendable {
    /// A hash of format, size and every visible sample.
    package var hash: UInt64
    package var likeness: Likeness
    package var width: Int32
    package var height: Int32
    /// Whether the decoder flagged the picture as damaged, or logged an error while decoding it. Such a picture may
    /// look different the next time.
    package var isDamaged: Bool
    /// Whether its pixel format differs from that of the first picture, which the output has.
    package var hasOtherFormat: Bool

    package init(
        hash: UInt64, likeness: Likeness, width: Int32, height: Int32, isDamaged: Bool, hasOtherFormat: Bool = false
    ) {
        self.hash = hash
        self.likeness = likeness
        self.width = width
        self.height = height
        self.isDamaged = isDamaged
        self.hasOtherFormat = hasOtherFormat
    }
}

/// The brightness of a picture in each cell of a grid of four by four, row by row: enough to recognise which of several
/// neighbouring frames a picture shows, after lossy encoding or scaling.
package struct Likeness: Hashable, Sendable {
    /// The brightness of each cell: 0 is black and 255 is white, whatever the range of the video.
    package var cells: SIMD16<UInt8>

    package init(cells: SIMD16<UInt8>) { self.cells = cells }

    package static let side = 4

    /// The sum over all cells of their absolute differences; 0 to 4080.
    package func distance(to other: Likeness) -> Int {
        let (mine, theirs) = (SIMD16<Int16>(truncatingIfNeeded: cells), SIMD16<Int16>(truncatingIfNeeded: other.cells))
        let difference = mine &- theirs
        let magnitude = difference.replacing(with: 0 &- difference, where: difference .< 0)
        return Int(magnitude.wrappedSum())
    }
}

/// A frame that came out of a decoder which got the whole source in order.
package struct ShownFrame: Hashable, Sendable {
    /// The index of the frame's packet in the order of the file.
    package var packet: Int32
    /// When the frame is shown, as the decoder derives it from the packets' times; nil if they give no time.
    package var time: Timestamp?
    package var picture: DecodedPicture

    package init(packet: Int32, time: Timestamp?, picture: DecodedPicture) {
        self.packet = packet
        self.time = time
        self.picture = picture
    }
}

/// Frames of a source at equal distances; `step` and `count` are positive.
package struct FrameSample: Hashable, Codable, Sendable {
    package var first: Int
    package var step: Int
    package var count: Int

    package init(first: Int, step: Int, count: Int) { (self.first, self.step, self.count) = (first, step, count) }
}

extension FrameSample {
    package init(_ frame: Int) { self.init(first: frame, step: 1, count: 1) }

    /// This many frames of `all`, or as many as there are, each in the middle of its part.
    package init(_ count: Int, of all: Int) {
        let count = max(min(count, all), 1)
        let step = max(all / count, 1)
        self.init(first: max(all - 1 - step * (count - 1), 0) / 2, step: step, count: count)
    }

    package var frames: [Int] { (0..<count).map { first + $0 * step } }
}

/// A picture in a file of video, found by its time: one of an output, or of a segment of one.
package struct FilePicture: Hashable, Codable, Sendable {
    package var file: Locator
    /// When it is shown, in seconds from the file's first picture on.
    package var start: Rational
    /// Its duration in seconds. Containers round times: the picture within half of this from `start` is the one.
    package var lasts: Rational

    package init(file: Locator, start: Rational, lasts: Rational) {
        self.file = file
        self.start = start
        self.lasts = lasts
    }
}
