/// The size of a picture in pixels.
package struct PictureSize: Hashable, Codable, Sendable {
    /// Pixels in a line.
    package var width: Int
    /// Lines.
    package var height: Int

    /// A size in pixels.
    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The sides that a user may ask for.
    package static let sidesAllowed = 2...16_384

    /// Reads "640x360"; nil for anything else, and for sides that are not allowed.
    package init?(_ text: String) {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1],
            PictureSize.sidesAllowed.contains(width), PictureSize.sidesAllowed.contains(height), !text.contains("+")
        else { return nil }
        self.init(width: width, height: height)
    }

    /// The size in the same proportions, at most this many pixels wide; no side below 1.
    package func narrowed(to most: Int?) -> PictureSize {
        guard let most, width > most else { return self }
        return PictureSize(width: most, height: max((height * most + width / 2) / width, 1))
    }
}

extension VideoStream {
    /// The size of its pictures as they are shown: upright, with square pixels.
    package var shownSize: PictureSize {
        let wide = Rational(Int64(width)) * (sampleAspectRatio ?? Rational(1))
        // Some files state shapes of pixels that no picture has.
        let shown = min(max(TimeBase(1, 1).ticks(in: wide, rounding: .nearest), 1), 1 << 16)
        let isSideways = Turning(from: displayMatrix, to: nil).isSideways
        return isSideways
            ? PictureSize(width: height, height: Int(shown)) : PictureSize(width: Int(shown), height: height)
    }
}
