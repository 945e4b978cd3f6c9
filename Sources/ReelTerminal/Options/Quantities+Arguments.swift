public import ArgumentParser
public import ReelWords

extension ByteSize: ExpressibleByArgument {
    /// Parses a command line argument; nil if it is invalid.
    public init?(argument: String) { self.init(argument) }
}

extension BitRate: ExpressibleByArgument {
    /// Parses a command line argument; nil if it is invalid.
    public init?(argument: String) { self.init(argument) }
}

extension ClockTime: ExpressibleByArgument {
    /// Parses a command line argument; nil if it is invalid.
    public init?(argument: String) { self.init(argument) }
}

extension TimeSpan: ExpressibleByArgument {
    /// Parses a command line argument; nil if it is invalid.
    public init?(argument: String) { self.init(argument) }

    /// How help shows the only default, a week.
    public var defaultValueDescription: String { "7d" }
}
