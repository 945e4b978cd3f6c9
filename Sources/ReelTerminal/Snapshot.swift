/// The answer of a reading command, as JSON and as lines of text.
public struct Snapshot: Sendable {
    let json: any Encodable & Sendable
    /// Whether it will not change any more.
    let isFinal: Bool
    let lines: @Sendable (Canvas) -> [ScreenLine]

    /// - Parameters:
    ///   - json: what `--json` prints.
    ///   - isFinal: whether it will not change any more, which ends a watch.
    ///   - lines: the lines of text, for a given canvas.
    public init(
        json: any Encodable & Sendable, isFinal: Bool = false, lines: @escaping @Sendable (Canvas) -> [ScreenLine]
    ) {
        self.json = json
        self.isFinal = isFinal
        self.lines = lines
    }
}

/// How a snapshot is printed.
public enum Output: Sendable {
    /// As a line of JSON.
    case json
    /// As lines for a person.
    case people(Canvas)

    /// Prints a snapshot on standard output.
    public func write(_ snapshot: Snapshot, on console: Console) throws {
        switch self {
        case .json: console.json(snapshot.json)
        case .people(let canvas): snapshot.lines(canvas).forEach { console.print($0.rendered(on: canvas) + "\n") }
        }
    }
}
