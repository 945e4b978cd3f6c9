internal import Foundation
package import Logging
internal import ReelCore
internal import ReelWords

/// A log handler that writes each event as a line.
package struct LineLogHandler: LogHandler {
    /// What a line looks like.
    package enum Form: Sendable {
        /// For people: time, level, logger and message. The message is made legible: file names and words of engines may be
        /// part of it. Metadata are left out, since the message says the same in words.
        case text
        /// A JSON object: "time", "level", "logger", "message", and what the event is about, by names.
        case json
    }

    /// What all events of the logger are about.
    package var metadata: Logger.Metadata = [:]
    /// Events below it are not written.
    package var logLevel = Logger.Level.info

    private let form: Form
    private let label: String
    private let hasPriorities: Bool
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - hasPriorities: whether each line begins with its priority, for a service manager that takes it off (sd-daemon(3)).
    ///   - write: gets each line, with its end.
    package init(
        _ form: Form, label: String, hasPriorities: Bool = false, write: @escaping @Sendable (String) -> Void
    ) {
        self.form = form
        self.label = label
        self.hasPriorities = hasPriorities
        self.write = write
    }

    /// Metadata by name.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes the event.
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
    /// The priority of syslog(3).
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
