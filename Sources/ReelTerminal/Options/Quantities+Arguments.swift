public import ArgumentParser
public import ReelCore
public import ReelWords

/// The value of an option that an error explains if it is invalid.
public protocol ExplainedArgument: Sendable {
    /// The forms that are valid, with examples.
    static var forms: String { get }
    /// Nil if the text is invalid.
    init?(_ text: String)
}

extension ExplainedArgument {
    /// The transformation for an option of this type. Throws what is valid.
    public static func read(_ text: String) throws -> Self {
        guard let value = Self(text) else { throw ValidationError("it takes \(forms)") }
        return value
    }
}

extension AudioBitRate: ExplainedArgument {}
extension BitRate: ExplainedArgument {}
extension ByteSize: ExplainedArgument {}
extension ClockTime: ExplainedArgument {}
extension Position: ExplainedArgument {}
extension Quality: ExplainedArgument {}
extension TimeSpan: ExplainedArgument {}
extension TrackSelection: ExplainedArgument {}

extension ByteSize: ExpressibleByArgument {
    /// Parses a command line argument; nil if it is invalid.
    public init?(argument: String) { self.init(argument) }
}
