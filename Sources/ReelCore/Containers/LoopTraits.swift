/// What reel knows of a format of moving pictures that loop: GIF, APNG or WebP.
package struct LoopTraits: Sendable {
    package let encoder: String
    package let pixelFormat: String
    /// The pixel format for pictures that may be transparent; nil for `pixelFormat`.
    package var transparentFormat: String?
    /// The pixel format in which pictures are kept without loss if a user asks for it; nil if the format is always
    /// without loss, or never.
    package var losslessFormat: String?
    package let clock: TimeBase
    /// Whether the pictures share a palette of at most 256 colours.
    package var hasPalette = false
    /// The most pictures a second, unless the user asks for fewer. Players slow down pictures that are shown for less
    /// than `LoopTraits.leastDelay`.
    package var mostFrames = Rational(50)
    /// The longer side in pixels to which larger pictures are scaled, unless the user asks for another size; nil for none.
    package var usualSide: Int?
    /// The most pixels in a line, and lines, that the encoder takes; nil if it takes any that reel does.
    package var mostSide: Int?
    /// The longest time for which a picture can be shown, in seconds.
    package let mostDelay: Int

    /// The shortest time for which browsers show a picture as long as it says, in seconds.
    package static let leastDelay = Rational(1, 50)
}

/// The options of moving pictures that loop.
package struct LoopOptions: Hashable, Codable, Sendable {
    /// How often the pictures are played; nil for ever.
    package var plays: Int?
    /// How colours that the palette lacks are approximated; nil for `Dither.standard`.
    package var dither: Dither?
    /// The most colours of the palette; nil for 256.
    package var colours: Int?
    /// Whether pictures are kept without loss in a format that has the choice. Plans have it, from `JobSpec.lossless`.
    package var isLossless = false

    package init(plays: Int? = nil, dither: Dither? = nil, colours: Int? = nil) {
        self.plays = plays
        self.dither = dither
        self.colours = colours
    }

    /// The valid values of `plays`: GIF counts repeats in 16 bits.
    package static let playsAllowed = 1...65_535
    package static let coloursAllowed = 2...256

    /// Whether all numbers are within range: another user may have written the record.
    package var isSound: Bool {
        LoopOptions.playsAllowed.contains(plays ?? 1) && LoopOptions.coloursAllowed.contains(colours ?? 2)
    }
}

/// How colours that a palette lacks are approximated by patterns of the colours that it has.
package enum Dither: String, Codable, CaseIterable, Sendable {
    case none, bayer, sierra
    case floydSteinberg = "floyd-steinberg"

    package static let standard = Dither.sierra
}

extension LoopTraits {
    /// The ticks for which each picture is shown, in the output's order. Each start is rounded once, so that errors do
    /// not add up. A picture that would be shown for less than `least` ticks (at least 1) takes time from its neighbours,
    /// as far as all pictures together last long enough. `starts` and `end` are in seconds; `starts` are ascending from
    /// 0.
    package static func delays(starts: [Rational], end: Rational, clock: TimeBase, least: Int64) -> [Int64] {
        func ticks(_ time: Rational) -> Int64 { clock.ticks(in: time, rounding: .nearest) }
        var rounded = starts.map(ticks)
        let whole = max(ticks(end), Int64(starts.count) * least)
        for place in rounded.indices.dropFirst() { rounded[place] = max(rounded[place], rounded[place - 1] + least) }
        var next = whole
        for place in rounded.indices.reversed() {
            rounded[place] = min(rounded[place], next - least)
            next = rounded[place]
        }
        return zip(rounded, rounded.dropFirst() + [whole]).map { $1 - $0 }
    }
}
