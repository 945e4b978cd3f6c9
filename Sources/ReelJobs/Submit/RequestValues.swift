package import ReelCore
import ReelWords

extension PictureSize: ExplainedArgument {
    /// What a user may write.
    package static let forms = "width and height in pixels (640x360)"
}

/// How often moving pictures are played: a number, or `forever`.
package struct Plays: ExplainedArgument, Hashable {
    static let word = "forever"
    /// What a user may write.
    package static let forms = "a number (3), or \(word)"
    /// Nil for ever.
    package let number: Int?

    /// Reads any whole number, whether it is within range or not; nil for other texts.
    package init?(_ text: String) {
        guard text == Plays.word || Int(text) != nil else { return nil }
        number = Int(text)
    }
}

/// Frames a second, as a decimal number or a ratio.
package struct FrameRate: ExplainedArgument, Hashable {
    /// What a user may write.
    package static let forms =
        "frames a second, up to \(JobSpec.ratesAllowed.upperBound.numerator) (25, 12.5, 30000/1001)"
    /// Within `JobSpec.ratesAllowed`.
    package let ratio: Rational

    /// Nil for other texts, and for rates that are not allowed.
    package init?(_ text: String) {
        guard let ratio = Rational(number: text), JobSpec.ratesAllowed.contains(ratio) else { return nil }
        self.ratio = ratio
    }
}

/// A speed, as a decimal number or a ratio.
package struct Speed: ExplainedArgument, Hashable {
    /// What a user may write.
    package static let forms = "a number or a ratio (2, 0.5, 1/3)"
    /// Seconds of the source in a second of the output; within `EditClip.speedsAllowed`.
    package let ratio: Rational

    /// Nil for other texts, and for speeds that are not allowed.
    package init?(_ text: String) {
        guard let ratio = Rational(number: text), EditClip.speedsAllowed.contains(ratio) else { return nil }
        self.ratio = ratio
    }
}

/// A number of threads, or `auto`.
package struct ThreadCount: ExplainedArgument, Hashable {
    static let word = "auto"
    /// What a user may write.
    package static let forms = "a number (4), or \(word)"
    /// Nil leaves it to the planner.
    package let number: Int?

    /// Reads any whole number, whether it is within range or not; nil for other texts.
    package init?(_ text: String) {
        guard text == ThreadCount.word || Int(text) != nil else { return nil }
        number = Int(text)
    }
}

extension Rational {
    /// Reads a decimal number or a ratio.
    fileprivate init?(number: String) {
        guard !number.contains(":"), let ratio = ClockTime(number)?.seconds ?? Rational(number) else { return nil }
        self = ratio
    }
}
