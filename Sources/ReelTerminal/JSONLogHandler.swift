internal import Foundation
public import Logging
internal import ReelCore

/// A log handler that writes each event as a JSON object on a line of its own: "time", "level", "logger", "message", and
/// what the event is about, by names.
public struct JSONLogHandler: LogHandler {
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
        var fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues(\.json)
        fields["time"] = .string(Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        fields["level"] = .string(event.level.rawValue)
        fields["logger"] = .string(label)
        fields["message"] = .string(event.message.description)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(JSONValue.object(fields)) else { return }
        write(String(decoding: line, as: UTF8.self) + "\n")
    }
}

extension Logger.MetadataValue {
    fileprivate var json: JSONValue {
        switch self {
        case .string(let text): .string(text)
        case .stringConvertible(let number as Int): .number(Int64(number))
        case .stringConvertible(let value): .string(value.description)
        case .array(let values): .array(values.map(\.json))
        case .dictionary(let values): .object(values.mapValues(\.json))
        }
    }
}
