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
extension PictureSize: ExpressibleByArgument {
    /// Reads "640x360".
    public init?(argument: String) { self.init(argument) }
}

/// How often moving pictures are played: a number, or `forever`.
struct Plays: ExpressibleByArgument {
    /// Nil for ever.
    let number: Int?

    init?(argument: String) {
        guard argument == "forever" || Int(argument) != nil else { return nil }
        number = Int(argument)
    }
}

/// Frames a second, as a decimal number or a ratio.
struct FrameRate: ExpressibleByArgument {
    let ratio: Rational

    init?(argument: String) {
        guard let ratio = Rational(number: argument), JobSpec.ratesAllowed.contains(ratio) else { return nil }
        self.ratio = ratio
    }
}

/// A speed, as a decimal number or a ratio.
struct Speed: ExpressibleByArgument {
    let ratio: Rational

    init?(argument: String) {
        guard let ratio = Rational(number: argument), EditClip.speedsAllowed.contains(ratio) else { return nil }
        self.ratio = ratio
    }
}

/// A number of threads, or `auto`.
struct ThreadCount: ExpressibleByArgument {
    /// Nil leaves it to the planner.
    let number: Int?

    init?(argument: String) {
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
