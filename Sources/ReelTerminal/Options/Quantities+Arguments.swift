public import ArgumentParser
public import ReelWords

extension ByteSize: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension BitRate: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension ClockTime: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension TimeSpan: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }

    public var defaultValueDescription: String { "7d" }
}
