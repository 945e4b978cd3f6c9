/// The display that a film was graded on (SMPTE ST 2086). Sources may state only one of its halves.
public struct MasteringDisplay: Hashable, Codable, Sendable {
    /// A chromaticity of CIE 1931.
    public struct Point: Hashable, Codable, Sendable {
        public var x: Rational
        public var y: Rational

        public init(x: Rational, y: Rational) {
            self.x = x
            self.y = y
        }

        public enum CodingKeys: String, CodingKey {
            case x = "x"
            case y = "y"
        }
    }

    /// The colours that the display mixes, and its white.
    public struct Primaries: Hashable, Codable, Sendable {
        public var red: Point
        public var green: Point
        public var blue: Point
        public var white: Point

        public init(red: Point, green: Point, blue: Point, white: Point) {
            self.red = red
            self.green = green
            self.blue = blue
            self.white = white
        }

        public enum CodingKeys: String, CodingKey {
            case red = "red"
            case green = "green"
            case blue = "blue"
            case white = "white"
        }
    }

    /// How dark and how bright the display becomes, in cd/m².
    public struct Luminance: Hashable, Codable, Sendable {
        public var least: Rational
        public var most: Rational

        public init(least: Rational, most: Rational) {
            self.least = least
            self.most = most
        }

        public enum CodingKeys: String, CodingKey {
            case least = "least"
            case most = "most"
        }
    }

    public var primaries: Primaries?
    public var luminance: Luminance?

    public init(primaries: Primaries?, luminance: Luminance?) {
        self.primaries = primaries
        self.luminance = luminance
    }

    public enum CodingKeys: String, CodingKey {
        case primaries = "primaries"
        case luminance = "luminance"
    }
}

/// How bright the film itself becomes (CTA-861.3), in cd/m².
public struct ContentLight: Hashable, Codable, Sendable {
    /// The brightest pixel of all (MaxCLL).
    public var pixel: UInt32
    /// The brightest frame's average (MaxFALL).
    public var average: UInt32

    public init(pixel: UInt32, average: UInt32) {
        self.pixel = pixel
        self.average = average
    }

    public enum CodingKeys: String, CodingKey {
        case pixel = "pixel"
        case average = "average"
    }
}
