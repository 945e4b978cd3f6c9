package import ReelCore

/// A worker's name: host, process and a random part, so that a restarted worker has another name.
package struct WorkerID: Hashable, Codable, Sendable, CustomStringConvertible {
    package var text: String
    package init(_ text: String) { self.text = text }
    package var description: String { text }
    package init(from decoder: any Decoder) throws { text = try String(from: decoder) }
    package func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

/// A worker's report with each beat. It is stored as JSON, so its properties keep their names.
package struct WorkerReport: Codable, Hashable, Sendable {
    package var worker: WorkerID
    package var host: String
    package var slots: Int
    /// The number of slots that took themselves out, since their engines crashed in one job after another.
    package var slotsOut: Int
    /// Bytes of memory that its passes may take together.
    package var memoryTotal: Int64
    package var encoders: [String]
    package var protocolVersion: Int
    /// Its release; nil if an earlier release reported, and so are the two that follow.
    package var version: String?
    /// The store in which it works, as it names it.
    package var store: String?
    /// Seconds since its start.
    package var uptime: Double?
    /// How its engines are confined; nil if an earlier release reported.
    package var sandbox: SandboxState?
    /// The folders from which it takes sources; nil for any.
    package var sourceRoots: SourceRoots?
    /// Why the worker claims nothing, or less than it could: a full disk, slots that took themselves out.
    package var notes: [Diagnostic]
    package var held: [Held]

    /// The numbers of slots that a worker can have.
    static let slotCounts = 0...1_000_000

    /// A pass that the worker holds, with its progress.
    package struct Held: Codable, Hashable, Sendable {
        package var job: JobID
        /// The pass's index, as in `Claim.index`.
        package var index: Int
        package var token: String
        /// The number of the plan that the pass belongs to.
        package var plan: Int
        /// Frames; of an assembly, thousandths of its work.
        package var decoded: Int
        package var encoded: Int
        /// The number of chunks that were whole already when the pass was claimed.
        package var wholeChunks: Int
        /// The number of frames of video that the worker makes; nil if an earlier release reported.
        package var frames: Int?

        enum CodingKeys: String, CodingKey {
            case job, index, token, plan, decoded, encoded, frames
            case wholeChunks = "wholeRuns"
        }

        package init(
            job: JobID, index: Int, token: String, plan: Int, decoded: Int, encoded: Int, wholeChunks: Int,
            frames: Int? = nil
        ) {
            self.job = job
            self.index = index
            self.token = token
            self.plan = plan
            self.decoded = decoded
            self.encoded = encoded
            self.wholeChunks = wholeChunks
            self.frames = frames
        }
    }

    package init(
        worker: WorkerID, host: String, slots: Int, slotsOut: Int = 0, memoryTotal: Int64, encoders: [String],
        protocolVersion: Int, version: String? = nil, store: String? = nil, uptime: Double? = nil,
        sandbox: SandboxState? = nil, sourceRoots: SourceRoots? = nil, notes: [Diagnostic] = [], held: [Held]
    ) {
        self.worker = worker
        self.host = host
        self.slots = slots
        self.slotsOut = slotsOut
        self.memoryTotal = memoryTotal
        self.encoders = encoders
        self.protocolVersion = protocolVersion
        self.version = version
        self.store = store
        self.uptime = uptime
        self.sandbox = sandbox
        self.sourceRoots = sourceRoots
        self.notes = notes
        self.held = held
    }
}

/// The answer of `Board.beat`: for each held pass, by token, whether the worker still holds it; and what of the worker a
/// user has drained, so that it is given nothing.
package typealias BeatReply = (answers: [String: LeaseAnswer], drained: DrainScope?)

/// The answer of a beat about one pass that the worker holds.
package enum LeaseAnswer: String, Sendable {
    /// The worker still holds the pass, and its lease was extended.
    case ok
    /// The worker no longer holds the pass, and another may: it kills the engine and discards the work.
    case lost
    /// The job has ended: the worker kills the engine.
    case cancel
}

/// What a user drains.
package enum DrainScope: String, Codable, Sendable {
    /// One worker, until it ends.
    case worker
    /// A host: its workers, also the ones that start there later.
    case host
}

/// A worker on the board as it is now.
package struct WorkerStatus: Hashable, Sendable {
    package var report: WorkerReport
    /// Seconds since its last beat, by Redis's clock.
    package var beatAge: Double
    /// Whether the last beat is longer ago than a lease. Such a worker is listed for an hour.
    package var isGone: Bool
    /// What of it a user has drained: the worker itself or its host; nil if neither.
    package var drained: DrainScope?
    /// The passes that it holds, by token.
    package var holds: [String: Hold]

    /// Work that a worker holds.
    package struct Hold: Hashable, Sendable {
        /// Since it was claimed.
        package var seconds: Double
        package var work: Work

        package init(seconds: Double, work: Work) {
            self.seconds = seconds
            self.work = work
        }
    }

    package init(
        report: WorkerReport, beatAge: Double, isGone: Bool = false, drained: DrainScope? = nil,
        holds: [String: Hold] = [:]
    ) {
        self.report = report
        self.beatAge = beatAge
        self.isGone = isGone
        self.drained = drained
        self.holds = holds
    }
}

extension RedisBoard {
    package func beat(_ report: WorkerReport) throws(ReelFailure) -> BeatReply {
        var arguments = [
            "beat", report.worker.text, report.host, try JSON.text(report), timing.leaseText,
            String(report.memoryTotal),
        ]
        for held in report.held {
            arguments += [
                held.job.text, String(held.index), held.token, String(held.plan), String(held.decoded),
                String(held.encoded), String(held.wholeChunks),
            ]
        }
        var parts = try ReplyReader(transition(arguments + [String(report.slots), String(report.slotsOut)]))
        let drained = try parts.drained()
        var answers: [String: LeaseAnswer] = [:]
        for held in report.held { answers[held.token] = try parts.value() }
        try parts.end()
        return (answers, drained)
    }

    package func drain(_ scope: DrainScope, _ name: String) throws(ReelFailure) -> Bool {
        try transition(["drain", name, scope.rawValue, "1"]).flag()
    }

    package func undrain(_ scope: DrainScope, _ name: String) throws(ReelFailure) -> Bool {
        try transition(["drain", name, scope.rawValue, "0"]).flag()
    }

    package func drainedHosts() throws(ReelFailure) -> [String] {
        let beginning = "drain-host:"
        let fields = try send(["HKEYS", keys[.control]]).texts()
        return fields.filter { $0.hasPrefix(beginning) }.map { String($0.dropFirst(beginning.count)) }.sorted()
    }

    package func depart(_ worker: WorkerID) throws(ReelFailure) { _ = try transition(["depart", worker.text]).text() }

    package func reap() throws(ReelFailure) -> Int {
        var requeued = 0
        while true {
            var parts = try ReplyReader(transition(["reap", timing.leaseText, timing.retentionText]))
            requeued += try parts.integer()
            let seen = try parts.integer()
            try parts.end()
            if seen < BoardPolicy.reaped { return requeued }
        }
    }

    package func workers() throws(ReelFailure) -> [WorkerStatus] {
        let reply = try look("workers", [])
        guard let entries = reply.array, let now = entries.last?.integer else { throw reply.surprise }
        var found: [WorkerStatus] = []
        for entry in entries.dropLast() {
            var parts = try ReplyReader(entry)
            let (text, beat, drained) = (try parts.text(), try parts.integer(), try parts.drained())
            var holds: [String: WorkerStatus.Hold] = [:]
            while !parts.isAtEnd {
                let (token, started) = (try parts.text(), try parts.integer())
                let work: Work = try parts.value()
                _ = try parts.text()
                holds[token] = WorkerStatus.Hold(seconds: max(0, Double(now) - Double(started)) / 1000, work: work)
            }
            guard let report = try? JSON.value(text, as: WorkerReport.self),
                WorkerReport.slotCounts.contains(report.slots), WorkerReport.slotCounts.contains(report.slotsOut)
            else { continue }
            let silence = Double(now) - Double(beat)
            found.append(
                WorkerStatus(
                    report: report, beatAge: max(0, silence) / 1000,
                    isGone: silence > Double(timing.lease.milliseconds), drained: drained, holds: holds))
        }
        return found
    }
}
