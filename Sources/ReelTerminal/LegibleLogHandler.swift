public import Logging
internal import ReelWords

/// A log handler that makes every message one legible line: file names and engine messages may be part of it.
public struct LegibleLogHandler: LogHandler {
    private var handler: any LogHandler

    /// Passes legible messages on to `handler`.
    public init(_ handler: any LogHandler) { self.handler = handler }

    /// Metadata of the handler behind it.
    public var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    /// Level of the handler behind it.
    public var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }

    /// Metadata of the handler behind it, by key.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    /// Logs the event with a legible message.
    public func log(event: LogEvent) {
        var event = event
        event.message = "\(Legible.line(event.message.description))"
        // The message says it in words.
        event.metadata = nil
        handler.log(event: event)
    }
}
