/// The display on which a film was graded (SMPTE ST 2086). Sources may state only one of the two parts.
package struct MasteringDisplay: Hashable, Codable, Sendable {
    /// A chromaticity in CIE 1931 coordinates.
    package struct Point: Hashable, Codable, Sendable {
        /// The x coordinate.
        package var x: Rational
        /// The y coordinate.
        package var y: Rational

        package init(x: Rational, y: Rational) {
            self.x = x
            self.y = y
        }
    }

    /// The display's primaries and white point.
    package struct Primaries: Hashable, Codable, Sendable {
        /// The red primary.
        package var red: Point
        /// The green primary.
        package var green: Point
        /// The blue primary.
        package var blue: Point
        /// The white point.
        package var white: Point

        package init(red: Point, green: Point, blue: Point, white: Point) {
            self.red = red
            self.green = green
            self.blue = blue
            self.white = white
        }
    }

    /// The darkest and brightest levels of the display, in cd/m².
    package struct Luminance: Hashable, Codable, Sendable {
        /// The darkest level.
        package var least: Rational
        /// The brightest level.
        package var most: Rational

        package init(least: Rational, most: Rational) {
            self.least = least
            self.most = most
        }
    }

    /// The primaries; nil if unspecified.
    package var primaries: Primaries?
    /// The luminance; nil if unspecified.
    package var luminance: Luminance?

    package init(primaries: Primaries?, luminance: Luminance?) {
        self.primaries = primaries
        self.luminance = luminance
    }
}

/// The brightness of the film itself (CTA-861.3), in cd/m².
package struct ContentLight: Hashable, Codable, Sendable {
    /// The brightest pixel of the film (MaxCLL).
    package var pixel: UInt32
    /// The greatest average of a frame (MaxFALL).
    package var average: UInt32

    package init(pixel: UInt32, average: UInt32) {
        self.pixel = pixel
        self.average = average
    }
}
