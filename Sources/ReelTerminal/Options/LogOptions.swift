public import ArgumentParser
internal import Foundation
internal import Glibc
public import Logging
internal import Synchronization

/// The options `--log-format` and `--log-level`.
package struct LogOptions: ParsableArguments {
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
    package init() {}

    /// Throws `ValidationError` if the configuration file names another format or level than there are.
    package mutating func validate() throws {
        logFormat = try logFormat ?? Settings.value(.logFormat)
        logLevel = try logLevel ?? Settings.value(.logLevel)
    }

    private static let json = Mutex(false)

    /// Whether the log of this process is JSON, so that nothing else may be on standard error.
    static var writesJSON: Bool { json.withLock(\.self) }

    /// Whether standard error is a stream of systemd's journal: systemd names the device and inode of such a stream (systemd.exec(5)).
    private static var writesToJournal: Bool {
        var status = stat()
        guard let stream = ProcessInfo.processInfo.environment["JOURNAL_STREAM"], fstat(STDERR_FILENO, &status) == 0
        else {
            return false
        }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// Has all loggers of this process write so. Call it once, before the first logger is made.
    package func start() {
        LogOptions.json.withLock { $0 = logFormat == .json }
        let isJournal = LogOptions.writesToJournal
        LoggingSystem.bootstrap { [logFormat, logLevel] label in
            let write: @Sendable (String) -> Void = {
                // A log that cannot be written, as on a full disk, ends no program.
                try? FileHandle.standardError.write(contentsOf: Data($0.utf8))
            }
            var handler: any LogHandler =
                switch logFormat ?? .text {
                case .text: LineLogHandler(.text, label: label, hasPriorities: isJournal, write: write)
                case .json: LineLogHandler(.json, label: label, hasPriorities: isJournal, write: write)
                }
            handler.logLevel = logLevel ?? .info
            return handler
        }
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
