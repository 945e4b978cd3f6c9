public import Logging
internal import ReelWords

/// A log in which every message is one line, whatever names of files or words of engines are in it.
public struct LegibleLogHandler: LogHandler {
    private var handler: any LogHandler

    public init(_ handler: any LogHandler) { self.handler = handler }

    public var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    public var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    public func log(event: LogEvent) {
        var event = event
        event.message = "\(Legible.line(event.message.description))"
        handler.log(event: event)
    }
}
