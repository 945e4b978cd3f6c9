package import ReelJobs

/// The answer of a reading command, as JSON and as lines of text.
package struct Snapshot: Sendable {
    let json: any Encodable & Sendable
    /// Whether it will not change any more.
    let isFinal: Bool
    /// The jobs that it lists, in the board's order; nil if it is no list of jobs.
    let jobs: [JobView]?
    private let text: @Sendable (JobList, Canvas) -> [ScreenLine]

    /// - Parameters:
    ///   - json: what `--json` prints.
    ///   - isFinal: whether it will not change any more, which ends a watch.
    ///   - lines: the lines of text, for a given canvas.
    package init(
        json: any Encodable & Sendable, isFinal: Bool = false, lines: @escaping @Sendable (Canvas) -> [ScreenLine]
    ) {
        self.json = json
        self.isFinal = isFinal
        jobs = nil
        text = { _, canvas in lines(canvas) }
    }

    /// A list of jobs, of which a watched screen lets one be chosen.
    ///
    /// - Parameters:
    ///   - jobs: in the board's order.
    ///   - lines: the lines of text, as the list is to be shown on a given canvas.
    package init(
        json: any Encodable & Sendable, jobs: [JobView],
        lines: @escaping @Sendable (JobList, Canvas) -> [ScreenLine]
    ) {
        (self.json, self.jobs) = (json, jobs)
        isFinal = false
        text = lines
    }

    /// Its lines on a canvas.
    func lines(_ canvas: Canvas, as list: JobList = JobList()) -> [ScreenLine] { text(list, canvas) }
}

/// How a snapshot is printed.
package enum Output: Sendable {
    /// As a line of JSON.
    case json
    /// As lines for a person.
    case people(Canvas)

    /// Prints a snapshot on standard output.
    package func write(_ snapshot: Snapshot, on console: Console) throws {
        switch self {
        case .json: console.json(snapshot.json)
        case .people(let canvas): snapshot.lines(canvas).forEach { console.print($0.rendered(on: canvas) + "\n") }
        }
    }
}
