internal import Foundation
public import Logging
internal import ReelWords

/// A log handler that writes each event as a line for people: time, level, logger and message. The message is made legible:
/// file names and words of engines may be part of it. Metadata are left out, since the message says the same in words.
public struct LegibleLogHandler: LogHandler {
    /// What all events of the logger are about.
    public var metadata: Logger.Metadata = [:]
    /// Events below it are not written.
    public var logLevel = Logger.Level.info

    private let label: String
    private let write: @Sendable (String) -> Void

    /// - Parameter write: gets each line, with its end.
    public init(label: String, write: @escaping @Sendable (String) -> Void) {
        self.label = label
        self.write = write
    }

    /// Metadata by name.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes the event.
    public func log(event: LogEvent) {
        let time = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        write("\(time) \(event.level) \(label): \(Legible.line(event.message.description))\n")
    }
}
