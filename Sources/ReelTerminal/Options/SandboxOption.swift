import ArgumentParser
internal import Foundation
package import ReelCore

/// The option `--sandbox`: whether engines must be confined.
package struct SandboxOption: ParsableArguments {
    /// The mode.
    @Option(
        name: .customLong("sandbox"),
        help: ArgumentHelp(
            """
            Confine engines to their job's files and harmless system calls: require, try (the default) or off; \
            REEL_SANDBOX sets the default.
            """, valueName: "mode"))
    private var chosen: SandboxMode?

    /// For ArgumentParser.
    package init() {}

    /// The mode that option and environment choose.
    package var mode: SandboxMode { chosen ?? SandboxOption.fromEnvironment ?? .try }

    /// Throws `ValidationError` if environment or configuration file name something else than a mode.
    package mutating func validate() throws {
        if SandboxOption.text == nil { chosen = try chosen ?? Settings.value(.sandbox) }
        guard chosen != nil || SandboxOption.text == nil || SandboxOption.fromEnvironment != nil else {
            throw ValidationError("REEL_SANDBOX must be require, try or off")
        }
    }

    private static var text: String? { ProcessInfo.processInfo.environment["REEL_SANDBOX"] }

    private static var fromEnvironment: SandboxMode? { text.flatMap { SandboxMode(rawValue: $0) } }
}

extension SandboxMode: ExpressibleByArgument {}
