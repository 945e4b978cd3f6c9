import ArgumentParser
package import ReelWords

extension ExplainedArgument {
    /// The transformation for an option of this type. Throws what is valid.
    package static func read(_ text: String) throws -> Self {
        guard let value = Self(text) else { throw ValidationError("it takes \(forms)") }
        return value
    }
}

extension ByteSize: ExpressibleByArgument {
    /// Parses a command line argument; nil if it is invalid.
    package init?(argument: String) { self.init(argument) }
}
