public import ArgumentParser
internal import Foundation
public import Logging
internal import ReelCore
internal import ReelWords
internal import Synchronization

package struct LogOptions: ParsableArguments {
    @Option(
        help: """
            How the log on standard error is written: text, lines for people (the default), or json, an object on each \
            line.
            """)
    var logFormat: LineLogHandler.Form?

    @Option(help: "The least level that is logged. Default: info.") var logLevel: Logger.Level?

    package init() {}

    /// Throws `ValidationError` if the configuration file names an unknown format or level.
    package mutating func validate() throws {
        logFormat = try logFormat ?? Settings.value(.logFormat)
        logLevel = try logLevel ?? Settings.value(.logLevel)
    }

    private static let json = Mutex(false)

    /// Whether the log of this process is JSON, so that standard error may hold nothing else.
    static var writesJSON: Bool { json.withLock(\.self) }

    /// Whether standard error is a stream of systemd's journal: systemd names the device and inode of such a stream
    /// (systemd.exec(5)).
    private static var writesToJournal: Bool {
        var status = stat()
        guard let stream = ProcessInfo.processInfo.environment["JOURNAL_STREAM"], fstat(STDERR_FILENO, &status) == 0
        else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// Sets up all loggers of this process. Call it once, before the first logger is made.
    package func start() {
        LogOptions.json.withLock { $0 = logFormat == .json }
        let isJournal = LogOptions.writesToJournal
        LoggingSystem.bootstrap { [logFormat, logLevel] label in
            let write: @Sendable (String) -> Void = {
                // A log that cannot be written, as on a full disk, ends no program.
                try? FileHandle.standardError.write(contentsOf: Data($0.utf8))
            }
            var handler = LineLogHandler(logFormat ?? .text, label: label, hasPriorities: isJournal, write: write)
            handler.logLevel = logLevel ?? .info
            return handler
        }
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

package struct LineLogHandler: LogHandler {
    package enum Form: String, CaseIterable, ExpressibleByArgument, Sendable {
        /// For people: time, level, logger and message. The message is made legible: file names and words of engines
        /// may be part of it. Metadata are left out, since the message says the same in words.
        case text
        /// A JSON object: "time", "level", "logger", "message", and the metadata.
        case json
    }

    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.info

    private let form: Form
    private let label: String
    private let hasPriorities: Bool
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - hasPriorities: whether each line begins with its priority, for a service manager that takes it off
    ///     (sd-daemon(3)).
    ///   - write: gets each line, with its end.
    package init(
        _ form: Form, label: String, hasPriorities: Bool = false, write: @escaping @Sendable (String) -> Void
    ) {
        (self.form, self.label, self.hasPriorities, self.write) = (form, label, hasPriorities, write)
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let time = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let priority = hasPriorities ? "<\(event.level.priority)>" : ""
        switch form {
        case .text: write("\(priority)\(time) \(event.level) \(label): \(Legible.line(event.message.description))\n")
        case .json:
            var fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues(\.json)
            fields["time"] = .string(time)
            fields["level"] = .string(event.level.rawValue)
            fields["logger"] = .string(label)
            fields["message"] = .string(event.message.description)
            guard let line = try? CanonicalJSON.text(of: JSONValue.object(fields)) else { return }
            write(priority + line + "\n")
        }
    }
}

extension Logger.Level {
    fileprivate var priority: Int {
        switch self {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }
}

extension Logger.MetadataValue {
    fileprivate var json: JSONValue {
        switch self {
        case .string(let text): .string(text)
        case .stringConvertible(let number as Int): .number(Decimal(number))
        case .stringConvertible(let value): .string(value.description)
        case .array(let values): .array(values.map(\.json))
        case .dictionary(let values): .object(values.mapValues(\.json))
        }
    }
}
