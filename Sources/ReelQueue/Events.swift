package import ReelCore

/// Something that happened on the board, read from the stream `events`. The board computes nothing from events: a
/// program that watches looks at the board when one comes. `docs/board.md` says of each kind when it is written.
package struct BoardEvent: Hashable, Sendable {
    /// The event's place in the stream.
    package var place: Place
    /// The job that the event concerns.
    package var job: JobID
    /// What happened to the job.
    package var happening: Happening

    /// A place in the stream, after which `Board.events(after:atMost:)` reads.
    package struct Place: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// Redis's id of an entry: milliseconds, a hyphen, a number.
        let id: String

        init(id: String) { self.id = id }

        /// The place before all that the stream keeps.
        package static let start = Place(id: "0-0")

        /// Whether one place is before another.
        package static func < (one: Place, other: Place) -> Bool { one.numbers < other.numbers }

        private var numbers: (UInt64, UInt64) {
            let numbers = id.split(separator: "-").map { UInt64($0) ?? 0 }
            return (numbers.first ?? 0, numbers.count > 1 ? numbers[1] : 0)
        }

        /// The place that `description` gave, for a reader that kept it. Nil for any other text.
        package init?(_ text: String) {
            let numbers = text.split(separator: "-", omittingEmptySubsequences: false)
            guard numbers.count == 2, numbers.allSatisfy({ UInt64($0) != nil && $0.allSatisfy(\.isNumber) }) else {
                return nil
            }
            id = text
        }

        /// The place as text, from which another reader can go on.
        package var description: String { id }
    }

    /// What happened to a job. An index is that of a pass, of the assembly, or `BoardJob.planningIndex`.
    package enum Happening: Hashable, Sendable {
        /// The job is on the board, and its planning has a holder.
        case begun(holder: WorkerID)
        /// The job has a plan, and its passes can be claimed.
        case published
        /// A worker claimed the pass.
        case claimed(index: Int, worker: WorkerID)
        /// A worker makes a backup attempt at the pass.
        case backedUp(index: Int, worker: WorkerID)
        /// A worker's beat gave it back the lease of the pass, which had vanished.
        case adopted(index: Int, worker: WorkerID)
        /// The result of the pass was recorded.
        case completed(index: Int, worker: WorkerID)
        /// An attempt failed, and the pass is tried again.
        case attemptFailed(index: Int, worker: WorkerID)
        /// A lease lapsed, and the pass is tried again.
        case lost(index: Int, worker: WorkerID)
        /// The pass was handed back, uncharged.
        case released(index: Int)
        /// A result proved wrong; `worker` found that.
        case invalidated(index: Int, worker: WorkerID)
        /// This pass found that the plan does not match the source; the job is planned again.
        case disproved(index: Int, worker: WorkerID)
        /// The job excludes the worker, which can claim none of its passes any more.
        case excluded(worker: WorkerID)
        /// The job no longer excludes the worker.
        case readmitted(worker: WorkerID)
        /// A user paused the job.
        case paused
        /// A user resumed the job.
        case resumed
        /// A user had a failed job run again.
        case jobRetried
        /// All passes but the assembly are finished.
        case assembling
        /// The job ended; its output is verified.
        case done
        /// The job failed.
        case failed
        /// A user cancelled the job, or the last process that waited for it abandoned it.
        case cancelled
        /// The board holds something of the job that cannot be read.
        case broken
        /// A kind that only a newer release knows.
        case other(kind: String)
    }
}

extension BoardEvent {
    /// Kinds of events; the raw values are what the board's functions write, and never change.
    package enum Kind: String, CaseIterable {
        case begun, published, claimed, adopted, completed, lost, released, invalidated, disproved
        case attemptFailed = "retried"
        case backedUp = "copied"
        case resumed = "unpaused"
        case jobRetried = "resumed"
        case excluded, readmitted, paused, assembling, done, failed, cancelled, broken
    }

    /// - Parameters:
    ///   - id: the entry's id in the stream.
    ///   - fields: `event`, `job`, `index` and `worker`; the last two are empty if they do not apply. An unknown event
    ///     becomes `.other`, so that a program that watches goes on.
    init(id: String, fields: [String: String]) {
        place = Place(id: id)
        job = JobID(fields["job"] ?? "")
        happening = Happening(fields["event"] ?? "", index: fields["index"].flatMap(Int.init), worker: fields["worker"])
    }
}

extension BoardEvent.Happening {
    /// The pass, the assembly or the planning that it concerns, by its index; nil if it concerns none.
    package var index: Int? {
        switch self {
        case .claimed(let index, _), .backedUp(let index, _), .adopted(let index, _), .completed(let index, _),
            .attemptFailed(let index, _), .lost(let index, _), .released(let index), .invalidated(let index, _),
            .disproved(let index, _):
            index
        default: nil
        }
    }

    /// The worker that it concerns; nil if it concerns none.
    package var worker: WorkerID? {
        switch self {
        case .begun(let worker), .claimed(_, let worker), .backedUp(_, let worker), .adopted(_, let worker),
            .completed(_, let worker), .attemptFailed(_, let worker), .lost(_, let worker), .invalidated(_, let worker),
            .disproved(_, let worker), .excluded(let worker), .readmitted(let worker):
            worker
        default: nil
        }
    }

    /// Its name in messages to programs, such as `attemptFailed`; that of an unknown kind is the board's own.
    package var name: String {
        if case .other(let kind) = self { return kind }
        return String("\(self)".prefix { $0 != "(" })
    }

    /// Whether the job ended with this.
    package var isEnd: Bool { [.done, .failed, .cancelled].contains(self) }

    fileprivate init(_ kind: String, index: Int?, worker: String?) {
        self =
            BoardEvent.Kind(rawValue: kind).flatMap { .init($0, index, WorkerID(worker ?? "")) } ?? .other(kind: kind)
    }

    /// Nil if the kind concerns a pass and there is no index.
    private init?(_ kind: BoardEvent.Kind, _ index: Int?, _ worker: WorkerID) {
        switch (kind, index) {
        case (.begun, _): self = .begun(holder: worker)
        case (.published, _): self = .published
        case (.claimed, let index?): self = .claimed(index: index, worker: worker)
        case (.backedUp, let index?): self = .backedUp(index: index, worker: worker)
        case (.adopted, let index?): self = .adopted(index: index, worker: worker)
        case (.completed, let index?): self = .completed(index: index, worker: worker)
        case (.attemptFailed, let index?): self = .attemptFailed(index: index, worker: worker)
        case (.lost, let index?): self = .lost(index: index, worker: worker)
        case (.released, let index?): self = .released(index: index)
        case (.invalidated, let index?): self = .invalidated(index: index, worker: worker)
        case (.disproved, let index?): self = .disproved(index: index, worker: worker)
        case (.excluded, _): self = .excluded(worker: worker)
        case (.readmitted, _): self = .readmitted(worker: worker)
        case (.paused, _): self = .paused
        case (.resumed, _): self = .resumed
        case (.jobRetried, _): self = .jobRetried
        case (.assembling, _): self = .assembling
        case (.done, _): self = .done
        case (.failed, _): self = .failed
        case (.cancelled, _): self = .cancelled
        case (.broken, _): self = .broken
        case (.claimed, nil), (.backedUp, nil), (.adopted, nil), (.completed, nil), (.attemptFailed, nil),
            (.lost, nil), (.released, nil), (.invalidated, nil), (.disproved, nil):
            return nil
        }
    }
}

extension RedisBoard {
    package func placeOfNow() throws(ReelFailure) -> BoardEvent.Place {
        // A reader may see an event of this millisecond twice. One millisecond later it might miss one.
        BoardEvent.Place(id: "\(try microseconds() / 1000 - 1)-0")
    }

    package func events(after place: BoardEvent.Place, atMost duration: Duration) throws(ReelFailure) -> [BoardEvent] {
        // 0 would wait for ever.
        let wait = max(blocking(duration), 1)
        let reply = try send(
            ["XREAD", "COUNT", "1000", "BLOCK", String(wait), "STREAMS", keys[.events], place.id])
        if reply == .none { return [] }
        var streams = try ReplyReader(reply)
        guard let stream = try streams.list().last, let entries = stream.array else { throw reply.surprise }
        var events: [BoardEvent] = []
        for entry in entries {
            var parts = try ReplyReader(entry)
            events.append(BoardEvent(id: try parts.text(), fields: try parts.dictionary()))
        }
        return events
    }
}
