/// What a reading command found, for machines and for people.
public struct Snapshot: Sendable {
    let json: any Encodable & Sendable
    /// Nothing of it will change any more.
    let isFinal: Bool
    let lines: @Sendable (Canvas) -> [ScreenLine]

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
    case json
    case people(Canvas)

    public func write(_ snapshot: Snapshot, on console: Console) throws {
        switch self {
        case .json: console.json(snapshot.json)
        case .people(let canvas): snapshot.lines(canvas).forEach { console.print($0.rendered(on: canvas) + "\n") }
        }
    }
}
