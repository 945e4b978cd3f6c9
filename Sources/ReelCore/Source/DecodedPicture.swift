/// What a decoder showed for a frame when the whole source was decoded in order: enough to recognise the same picture
/// later.
package struct DecodedPicture: Hashable, Sendable {
    /// A hash of format, size and every visible sample.
    package var hash: UInt64
    /// The picture's brightness in a grid.
    package var likeness: Likeness
    /// Width in pixels.
    package var width: Int32
    /// Height in pixels.
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

    /// Cells per row, and rows.
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
    /// The picture that the decoder showed.
    package var picture: DecodedPicture

    package init(packet: Int32, time: Timestamp?, picture: DecodedPicture) {
        self.packet = packet
        self.time = time
        self.picture = picture
    }
}
