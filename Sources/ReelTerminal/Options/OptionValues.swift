public import ArgumentParser
public import ReelCore
internal import ReelWords

extension AudioMode: ExpressibleByArgument {}
extension Container: ExpressibleByArgument {}
extension TimestampMode: ExpressibleByArgument {}
extension VerifyMode: ExpressibleByArgument {}
extension DamageMode: ExpressibleByArgument {}
extension Play: ExpressibleByArgument {}
extension Turn: ExpressibleByArgument {}
extension Trim: ExpressibleByArgument {}
extension Dither: ExpressibleByArgument {}
extension PictureSize: ExplainedArgument {
    /// What a user may write.
    public static let forms = "width and height in pixels (640x360)"
}

/// How often moving pictures are played: a number, or `forever`.
struct Plays: ExplainedArgument {
    static let forms = "a number (3), or forever"
    /// Nil for ever.
    let number: Int?

    init?(_ argument: String) {
        guard argument == "forever" || Int(argument) != nil else { return nil }
        number = Int(argument)
    }
}

/// Frames a second, as a decimal number or a ratio.
struct FrameRate: ExplainedArgument {
    static let forms = "frames a second, up to \(JobSpec.ratesAllowed.upperBound.numerator) (25, 12.5, 30000/1001)"
    let ratio: Rational

    init?(_ argument: String) {
        guard let ratio = Rational(number: argument), JobSpec.ratesAllowed.contains(ratio) else { return nil }
        self.ratio = ratio
    }
}

/// A speed, as a decimal number or a ratio.
struct Speed: ExplainedArgument {
    static let forms = "a number or a ratio (2, 0.5, 1/3)"
    let ratio: Rational

    init?(_ argument: String) {
        guard let ratio = Rational(number: argument), EditClip.speedsAllowed.contains(ratio) else { return nil }
        self.ratio = ratio
    }
}

/// A number of threads, or `auto`.
struct ThreadCount: ExplainedArgument {
    static let forms = "a number (4), or auto"
    /// Nil leaves it to the planner.
    let number: Int?

    init?(_ argument: String) {
        guard argument == "auto" || Int(argument) != nil else { return nil }
        number = Int(argument)
    }
}

extension Rational {
    /// Reads a decimal number or a ratio.
    fileprivate init?(number: String) {
        guard !number.contains(":"), let ratio = ClockTime(number)?.seconds ?? Rational(number) else { return nil }
        self = ratio
    }
}
