public import ArgumentParser
internal import Foundation
public import Logging

/// The options `--log-format` and `--log-level`.
public struct LogOptions: ParsableArguments {
    /// How lines of the log are written.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    @Option(help: "How the log on standard error is written: lines for people, or a JSON object on each line.")
    var logFormat = Format.text

    @Option(help: "The least level that is logged.")
    var logLevel = Logger.Level.info

    /// For ArgumentParser.
    public init() {}

    /// Has all loggers of this process write so. Call it once, before the first logger is made.
    public func start() {
        LoggingSystem.bootstrap { [logFormat, logLevel] label in
            var handler: any LogHandler =
                switch logFormat {
                case .text: LegibleLogHandler(StreamLogHandler.standardError(label: label))
                case .json: JSONLogHandler(label: label) { FileHandle.standardError.write(Data($0.utf8)) }
                }
            handler.logLevel = logLevel
            return handler
        }
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
