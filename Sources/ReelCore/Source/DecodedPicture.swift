/// What a decoder showed for a frame when the whole source was decoded in order: enough to tell later whether the same
/// comes out again.
public struct DecodedPicture: Hashable, Sendable {
    /// A hash over format, size and every visible sample.
    public var hash: UInt64
    public var likeness: Likeness
    public var width: Int32
    public var height: Int32
    /// The decoder called it damaged, or complained while it decoded it: it need not look the same twice.
    public var isDamaged: Bool
    /// Its pixel format is not that of the first picture, which the output has.
    public var hasOtherFormat: Bool

    public init(
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

/// How bright a picture is in each cell of a grid of four by four, by rows: enough to tell, after a lossy encoder or a
/// change of size, which of its neighbours a frame shows.
public struct Likeness: Hashable, Sendable {
    /// 0 is black, 255 is white, whatever the range of the video.
    public var cells: SIMD16<UInt8>

    public init(cells: SIMD16<UInt8>) { self.cells = cells }

    public static let side = 4

    /// The sum over all cells of how much they differ.
    public func distance(to other: Likeness) -> Int {
        let (mine, theirs) = (SIMD16<Int16>(truncatingIfNeeded: cells), SIMD16<Int16>(truncatingIfNeeded: other.cells))
        let difference = mine &- theirs
        let magnitude = difference.replacing(with: 0 &- difference, where: difference .< 0)
        return Int(magnitude.wrappedSum())
    }
}

/// A frame that came out of a decoder which was fed the whole source in order.
public struct ShownFrame: Hashable, Sendable {
    /// The packet that it comes from, as a place in the order of the file.
    public var packet: Int32
    /// When it is shown, as the decoder guesses from the times of packets; nil where these tell nothing.
    public var time: Timestamp?
    public var picture: DecodedPicture

    public init(packet: Int32, time: Timestamp?, picture: DecodedPicture) {
        self.packet = packet
        self.time = time
        self.picture = picture
    }
}
