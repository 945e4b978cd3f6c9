package import ReelCore

/// Something that happened on the board, read from the stream `events`. The board computes nothing from events: a
/// program that watches looks at the board when one comes. `docs/board.md` says of each kind when it is written.
package struct BoardEvent: Hashable, Sendable {
    package var place: Place
    package var job: JobID
    package var happening: Happening

    /// A place in the stream, after which `Board.events(after:atMost:)` reads.
    package struct Place: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// Redis's id of an entry: milliseconds, a hyphen, a number.
        let id: String

        init(id: String) { self.id = id }

        /// The place before all that the stream keeps.
        package static let start = Place(id: "0-0")

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

        package var description: String { id }
    }

    /// What happened to a job.
    package struct Happening: Hashable, Sendable {
        /// Nil for a kind that only a newer release knows.
        package let kind: Kind?
        /// Its name in messages to programs, such as `attemptFailed`; that of an unknown kind is the board's own.
        package let name: String
        /// The pass, the assembly or the planning that it concerns; nil if it concerns none.
        package let index: Int?
        /// The worker that it concerns, or the holder of the planning; nil if it concerns none.
        package let worker: WorkerID?

        /// Whether the job ended with this.
        package var isEnd: Bool { [.done, .failed, .cancelled].contains(kind) }
    }

    /// Kinds of events; the raw values are what the board's functions write, and never change.
    package enum Kind: String, CaseIterable {
        /// The job is on the board, and its planning has a holder.
        case begun
        /// The job has a plan, and its passes can be claimed.
        case published
        /// A worker claimed the pass.
        case claimed
        /// A worker makes a backup attempt at the pass.
        case backedUp = "copied"
        /// A worker's beat gave it back the lease of the pass, which had vanished.
        case adopted
        /// The result of the pass was recorded.
        case completed
        /// An attempt failed, and the pass is tried again.
        case attemptFailed = "retried"
        /// A lease lapsed, and the pass is tried again.
        case lost
        /// The pass was handed back, uncharged.
        case released
        /// A result proved wrong; the worker found that.
        case invalidated
        /// This pass found that the plan does not match the source; the job is planned again.
        case disproved
        /// The job excludes the worker, which can claim none of its passes any more; or it no longer does.
        case excluded, readmitted
        /// A user paused or resumed the job.
        case paused
        case resumed = "unpaused"
        /// A user had a failed job run again.
        case jobRetried = "resumed"
        /// All passes but the assembly are finished.
        case assembling
        /// The job ended; if it is done, its output is verified. A user cancelled it, or the last process that waited
        /// for it abandoned it.
        case done, failed, cancelled
        /// The board holds something of the job that cannot be read.
        case broken

        fileprivate var concernsPass: Bool {
            switch self {
            case .claimed, .backedUp, .adopted, .completed, .attemptFailed, .lost, .released, .invalidated, .disproved:
                true
            default: false
            }
        }

        fileprivate var concernsWorker: Bool {
            concernsPass && self != .released || [.begun, .excluded, .readmitted].contains(self)
        }
    }
}

extension BoardEvent.Happening {
    package init(_ kind: BoardEvent.Kind, index: Int? = nil, worker: WorkerID? = nil) {
        self.init(kind: kind, name: "\(kind)", index: index, worker: worker)
    }

    /// - Parameter fields: `event`, `job`, `index` and `worker` of an entry in the stream; the last two are empty if
    ///   they do not apply. If the kind is unknown or lacks the index of its pass, only the name is kept, so that a
    ///   program that watches goes on.
    fileprivate init(_ fields: [String: String]) {
        let (name, index) = (fields["event"] ?? "", fields["index"].flatMap(Int.init))
        if let kind = BoardEvent.Kind(rawValue: name), index != nil || !kind.concernsPass {
            self.init(
                kind, index: kind.concernsPass ? index : nil,
                worker: kind.concernsWorker ? WorkerID(fields["worker"] ?? "") : nil)
        } else {
            self.init(kind: nil, name: name, index: nil, worker: nil)
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
            let (id, fields) = (try parts.text(), try parts.dictionary())
            events.append(
                BoardEvent(
                    place: BoardEvent.Place(id: id), job: JobID(fields["job"] ?? ""), happening: .init(fields)))
        }
        return events
    }
}

/// A change that a server was asked for, by whom, and the answer.
package struct JournalAction: Hashable, Sendable {
    package var who: String
    /// The role that the name has with the server.
    package var role: String
    /// The address from which the request came.
    package var address: String
    package var action: String
    package var job: JobID?
    /// The status of the server's answer.
    package var status: Int

    /// The most characters of each text that are kept.
    package static let longest = 256

    package init(who: String, role: String, address: String, action: String, job: JobID? = nil, status: Int) {
        self.who = who
        self.role = role
        self.address = address
        self.action = action
        self.job = job
        self.status = status
    }
}

/// An entry of the board's journal.
package struct JournalEntry: Hashable, Sendable {
    /// The entry's place, before which `Board.journal(before:count:)` reads.
    package var place: BoardEvent.Place
    /// When it was noted, in seconds since 1970 by the board's clock.
    package var time: Double
    package var action: JournalAction
}

extension RedisBoard {
    /// Adds an entry to the journal. No function does this: a user who may call functions may call all of them, and
    /// those of workers must not be able to write what passes for a person's deed.
    package func note(_ action: JournalAction) throws(ReelFailure) {
        let texts = [action.who, action.role, action.address, action.action, action.job?.text ?? ""]
        let fields = zip(["who", "role", "address", "action", "job"], texts).flatMap { name, text in
            [name, String(text.prefix(JournalAction.longest))]
        }
        try send(
            ["XADD", keys.journal, "MAXLEN", "~", String(BoardPolicy.journalKept), "*"] + fields
                + ["status", String(action.status)])
    }

    /// Entries of the journal, the latest first, `count` at most.
    package func journal(before place: BoardEvent.Place?, count: Int) throws(ReelFailure) -> [JournalEntry] {
        guard count > 0, place != .start else { return [] }
        let latest = place.map { "(\($0)" } ?? "+"
        let reply = try send(["XREVRANGE", keys.journal, latest, "-", "COUNT", String(count)])
        guard let entries = reply.array else { throw reply.surprise }
        var found: [JournalEntry] = []
        for entry in entries {
            var parts = try ReplyReader(entry)
            let (id, fields) = (try parts.text(), try parts.dictionary())
            let job = fields["job"] ?? ""
            let action = JournalAction(
                who: fields["who"] ?? "", role: fields["role"] ?? "", address: fields["address"] ?? "",
                action: fields["action"] ?? "", job: job.isEmpty ? nil : JobID(job),
                status: fields["status"].flatMap(Int.init) ?? 0)
            let milliseconds = id.split(separator: "-").first.flatMap { Double($0) } ?? 0
            found.append(
                JournalEntry(place: BoardEvent.Place(id: id), time: milliseconds / 1000, action: action))
        }
        return found
    }
}
