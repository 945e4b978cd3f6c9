public import ArgumentParser
internal import Foundation
public import Logging

/// The options `--log-format` and `--log-level`.
public struct LogOptions: ParsableArguments {
    /// How lines of the log are written.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    @Option(
        help: """
            How the log on standard error is written: text, lines for people (the default), or json, an object on each \
            line.
            """)
    var logFormat: Format?

    @Option(help: "The least level that is logged. Default: info.")
    var logLevel: Logger.Level?

    /// For ArgumentParser.
    public init() {}

    /// Throws `ValidationError` if the configuration file names another format or level than there are.
    public mutating func validate() throws {
        logFormat = try logFormat ?? Settings.value(.logFormat)
        logLevel = try logLevel ?? Settings.value(.logLevel)
    }

    /// Has all loggers of this process write so. Call it once, before the first logger is made.
    public func start() {
        LoggingSystem.bootstrap { [logFormat, logLevel] label in
            var handler: any LogHandler =
                switch logFormat ?? .text {
                case .text: LegibleLogHandler(StreamLogHandler.standardError(label: label))
                case .json: JSONLogHandler(label: label) { FileHandle.standardError.write(Data($0.utf8)) }
                }
            handler.logLevel = logLevel ?? .info
            return handler
        }
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
